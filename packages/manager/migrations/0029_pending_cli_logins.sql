-- Why: starting a login from a terminal is not rate limited. Instead an address keeps its newest pending logins, and so does
-- the whole table; a start drops the older ones.

-- The client as throttles count it: an IPv4 address, or the /64 network of an IPv6 address. Empty in rows of older releases.
alter table cli_logins
  add column network text not null default '',
  add constraint cli_logins_network_length check (char_length(network) <= 100);

create index cli_logins_network_idx on cli_logins (network, created_at, id) where status = 'pending';
-- Counting all pending logins at every start would read all of them. The first bytes of a hash spread them evenly over 100
-- shares instead, and each share keeps its part.
create index cli_logins_share_idx on cli_logins
  (((get_byte(secret_hash, 0) * 256 + get_byte(secret_hash, 1)) % 100), created_at, id) where status = 'pending';
