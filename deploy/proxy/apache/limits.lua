-- What one person may have under way at a time, and send per second, at the gate of people; a token is not verified here, so
-- that its requests count for their address. Each process of Apache counts for itself, in numbers that its threads share.
-- Names share a limited number of counters, by a hash that clients do not know, so that nothing grows with the names.
-- An address may be that of a whole office: it has most of the 25 threads that a process has by default, and leaves some.
local kinds = {
  person = { per_second = 50, burst = 200, at_once = 8 },
  address = { per_second = 200, burst = 800, at_once = 20 },
}
-- A request that ends without being logged gives its place back after this time.
local held_us = 60 * 1000000

-- Takes one request: false if there were too many in the last seconds.
local function take_request(r, kind, counter, now)
  local cost = 1000000 / kind.per_second
  local full = math.max(r:ivm_get('svc_requests_' .. counter) or 0, now) + cost
  if full - kind.burst * cost > now then return false end
  r:ivm_set('svc_requests_' .. counter, full)
  return true
end

-- Takes a place; nil if all are taken. Two threads may get the same one, which lets one request more pass.
local function take_place(r, kind, counter, now)
  local first = math.random(0, kind.at_once - 1)
  for i = 0, kind.at_once - 1 do
    local place = 'svc_place_' .. counter .. '_' .. (first + i) % kind.at_once
    if (r:ivm_get(place) or 0) < now then
      r:ivm_set(place, now + held_us)
      return place
    end
  end
end

-- Whether the request of a person, or else of an address, may pass. caller.lua gives its place back when it has ended.
return function(r, person)
  local kind = person and kinds.person or kinds.address
  local hash = r:md5(r.subprocess_env['svc_proxy_secret'] .. (person or r.useragent_ip)):sub(1, 3)
  local counter = (person and 'p' or 'a') .. hash
  local now = r:clock()
  local place = take_request(r, kind, counter, now) and take_place(r, kind, counter, now) or nil
  r.subprocess_env['svc_place'] = place
  return place ~= nil
end
