-- Why: callbacks were signed with the bearer token that travels in the same request, and a pilet's signature covers its bytes
-- alone. A registration gets a secret that only signs, and a package a signature over a statement that names it.

-- Sealed, like the callback token. Null for a registration of the previous release, until the backend registers again.
alter table backend_registrations add column signing_secret bytea;

-- Null for packages of the previous release. That release replaces a signature and its key without the statement, so the key of
-- the statement is stored too: a statement counts only while both keys are the same.
alter table pilet_packages
  add column statement_signature bytea,
  add column statement_key_id text collate "C";

-- Not validated: the new columns are null in every row, and a scan of the table would hold up its writers.
alter table pilet_packages
  add constraint pilet_packages_statement_whole check
    ((statement_signature is null) = (statement_key_id is null)) not valid,
  add constraint pilet_packages_statement_length check (octet_length(statement_signature) = 64) not valid;
