-- Limits on concurrent requests and requests per second at the gates user and scim. Tokens are not verified here, so requests
-- with a token count for their address. Each Apache process has its own counters, which its threads share. A keyed hash
-- maps names to a fixed number of counters, so memory does not grow with the number of names. An address can belong to
-- a whole office: it may use most, but not all, of the 25 threads that a process has by default.
local kinds = {
  person = { per_second = 50, burst = 200, max_concurrent = 8 },
  address = { per_second = 200, burst = 800, max_concurrent = 20 },
}
-- A slot expires after this time, in case its request ends without being logged.
local slot_expiry_us = 60 * 1000000

-- Counts one request; returns false if the rate limit is exceeded.
local function count_request(r, kind, counter, now)
  local cost = 1000000 / kind.per_second
  local full = math.max(r:ivm_get('svc_requests_' .. counter) or 0, now) + cost
  if full - kind.burst * cost > now then return false end
  r:ivm_set('svc_requests_' .. counter, full)
  return true
end

-- Acquires a slot; returns nil if none is free. Two threads can acquire the same slot, which admits one more request.
local function acquire_slot(r, kind, counter, now)
  local first = math.random(0, kind.max_concurrent - 1)
  for i = 0, kind.max_concurrent - 1 do
    local slot = 'svc_place_' .. counter .. '_' .. (first + i) % kind.max_concurrent
    if (r:ivm_get(slot) or 0) < now then
      r:ivm_set(slot, now + slot_expiry_us)
      return slot
    end
  end
end

-- Returns true if the request of a person, or else of an address, may pass. caller.lua releases its slot at the end.
return function(r, person)
  local kind = person and kinds.person or kinds.address
  local hash = r:md5(r.subprocess_env['svc_proxy_secret'] .. (person or r.useragent_ip)):sub(1, 3)
  local counter = (person and 'p' or 'a') .. hash
  local now = r:clock()
  local slot = count_request(r, kind, counter, now) and acquire_slot(r, kind, counter, now) or nil
  r.subprocess_env['svc_place'] = slot
  return slot ~= nil
end
