-- Asks the Manager to identify a caller by credential or sign-in, and to check access to the application of the host.
-- Returns the user and the tenant, or the status for the caller.
local http = require 'socket.http'
local ltn12 = require 'ltn12'
local json = require 'cjson.safe'

http.TIMEOUT = 10
-- A response lists up to 10,000 tenants with their names.
local max_answer = 8 * 1024 * 1024

-- Returns status, headers and body, or nil and the reason if there is no readable response.
local function post(question, path, body)
  local parts, size = {}, 0
  local function sink(chunk)
    size = size + #(chunk or '')
    if size > max_answer then return nil, 'the response is too long' end
    parts[#parts + 1] = chunk
    return 1
  end
  local sent = json.encode(body)
  local _, status, headers = http.request({
    url = 'http://' .. question.manager .. path, method = 'POST', redirect = false, sink = sink,
    source = ltn12.source.string(sent),
    headers = {
      ['Content-Type'] = 'application/json', ['Content-Length'] = #sent, ['X-Proxy-Auth'] = question.secret,
      ['X-Forwarded-For'] = question.client, ['X-Request-Id'] = question.request,
    },
  })
  if type(status) ~= 'number' then return nil, tostring(status) end
  local answer = json.decode(table.concat(parts))
  if type(answer) ~= 'table' then return nil, 'the response is not JSON' end
  return status, headers, answer
end

local function ask(question)
  local person = question.person
  if person == nil then
    return post(question, '/api/validate-proxy-auth',
      { authorization_header = question.authorization, application_id = question.application })
  end
  return post(question, '/api/validate-oauth-user', {
    user_id = person.subject, email = person.email, name = person.name, application_id = question.application,
  })
end

-- Returns the requested tenant, or false if it is not available to the caller. Without a requested tenant, returns the
-- caller's only tenant, or nil.
local function tenant_of(question, answer)
  if question.tenant == nil then return answer.tenant ~= json.null and answer.tenant.id or nil end
  for _, tenant in ipairs(answer.application.available_tenants) do
    if tenant.id == question.tenant then return tenant.id end
  end
  return false
end

return function(question)
  if question.person == nil and question.authorization == nil then return { status = 401 } end
  local status, headers, answer = ask(question)
  if status == nil then return { status = 503, retry_after = '1', reason = headers } end
  if status == 429 then return { status = 429, retry_after = headers['retry-after'] } end
  if (status == 401 or status == 400) and answer.valid == false then
    if question.person == nil then return { status = 401 } end
    return { status = 403, reason = 'the subject claim is not a UUID, see OIDCRemoteUserClaim' }
  end
  -- A 401 without `valid` means that the proxy secret is wrong, not the credential of the caller.
  if status ~= 200 or answer.valid ~= true then
    return { status = 503, retry_after = headers['retry-after'] or '1', reason = 'the Manager returned ' .. status }
  end
  if not answer.application.has_access then return { status = 403 } end
  local tenant = tenant_of(question, answer)
  if tenant == false then return { status = 403 } end
  -- Only people have inboxes.
  if question.people_only and answer.user.is_machine_user then return { status = 403 } end
  return { user = answer.user.id, tenant = tenant }
end
