-- Identifies the caller and sets every header that only the proxy may set. It runs after the sign-in and before a
-- request is forwarded, so no request can bypass it. Each gate has one function. An identity header that this
-- function does not set is not forwarded.
local validate, limits

local function part(r, file)
  return dofile(r.subprocess_env['svc_proxy_dir'] .. '/' .. file)
end

-- Only a proxy may set these names, in any spelling: many backends treat `_` and `-` as equal.
local own = {
  ['x-proxy-auth'] = true, ['x-user-id'] = true, ['x-tenant-id'] = true, ['forwarded'] = true, ['x-real-ip'] = true,
  ['x-request-id'] = true, ['traceparent'] = true, ['tracestate'] = true,
}
local own_prefixes = { '^x%-token%-', '^x%-forwarded%-', '^oidc%-', '^x%-svc%-' }

local function is_own(name)
  -- No application needs other characters, and they can disguise one name as another.
  if name:find('[^A-Za-z0-9-]') then return true end
  name = name:lower()
  if own[name] then return true end
  for _, prefix in ipairs(own_prefixes) do
    if name:find(prefix) then return true end
  end
  return false
end

-- A client could list any header in Connection, and the header that the proxy sets would be removed as hop-by-hop.
local function connection(sent)
  local kept = {}
  for token in sent:lower():gmatch('[^,%s]+') do
    if token == 'close' or token == 'keep-alive' or token == 'upgrade' then kept[#kept + 1] = token end
  end
  return #kept > 0 and table.concat(kept, ', ') or nil
end

-- Only the proxy may see the session. Apache joins repeated headers with a comma, so the name can be anywhere.
local function cookies(sent)
  local kept = {}
  for cookie in sent:gmatch('[^;]+') do
    if not (cookie:find('svc_session', 1, true) or cookie:find('svc_state_', 1, true)) then
      kept[#kept + 1] = cookie:match('^%s*(.-)%s*$')
    end
  end
  return #kept > 0 and table.concat(kept, '; ') or nil
end

-- Returns one line of UTF-8, truncated to the limit of the header, or nil.
local function text(value, limit)
  if value == nil then return nil end
  value = value:gsub('%c', ' ')
  local length = utf8.len(value)
  if length == nil then return nil end
  if length > limit then value = value:sub(1, utf8.offset(value, limit + 1) - 1) end
  return value ~= '' and value or nil
end

local function claims(r)
  local env = r.subprocess_env
  return { subject = r.user, email = text(env['OIDC_CLAIM_email'], 320), name = text(env['OIDC_CLAIM_name'], 200) }
end

-- A page of another host must not use the session of this host: to a browser, all application hosts are one site.
-- Sec-Fetch-Site takes precedence, because a form on a page without a referrer sends no usable Origin.
local function is_foreign(r)
  local sent = r.headers_in
  if (r.method == 'GET' or r.method == 'HEAD') and sent['Upgrade'] == nil then return false end
  local site, origin = sent['Sec-Fetch-Site'], sent['Origin']
  if site then return site ~= 'same-origin' and site ~= 'none' end
  if origin == nil then return false end
  return origin:lower() ~= ((r.is_https and 'https://' or 'http://') .. (sent['Host'] or '')):lower()
end

local function refuse(r, status, retry_after)
  r.subprocess_env['svc_refused'] = '1'
  if retry_after then r.err_headers_out['Retry-After'] = retry_after end
  return status
end

-- Returns the application and the tenant of the host; the tenant is nil if tenants share the host.
local function host(r)
  local application, tenant = (r.subprocess_env['svc_host'] or ''):match('^application (%S+) (%S+) ')
  return application, tenant ~= '-' and tenant or nil
end

-- A browser cannot add a header to a WebSocket request, so a page can also select its tenant with a cookie.
local function selected_tenant(r)
  local sent = r.headers_in['X-Select-Tenant'] or (';' .. (r.headers_in['Cookie'] or '')):match(';%s*svc_tenant=([0-9A-Fa-f-]+)')
  return sent and sent:lower() or nil
end

local function vouch(r, person, set)
  validate = validate or part(r, 'validate.lua')
  local application, dedicated = host(r)
  local found = validate({
    manager = r.subprocess_env['svc_manager'], secret = r.subprocess_env['svc_proxy_secret'],
    client = r.useragent_ip, request = set['X-Request-Id'],
    application = application, tenant = dedicated or selected_tenant(r),
    person = person, authorization = r.headers_in['Authorization'],
    people_only = r.subprocess_env['svc_gate'] == 'tenant_user',
  })
  if found.reason then r:err('cannot validate credentials: ' .. found.reason) end
  if found.status then return refuse(r, found.status, found.retry_after) end
  set['X-User-Id'], set['X-Tenant-Id'] = found.user, found.tenant
end

local gates = {}
function gates.open() end
function gates.machine() end
function gates.proxy(r, set)
  set['X-Proxy-Auth'], set['Authorization'] = r.subprocess_env['svc_proxy_secret'], false
end
-- An identity provider has no session: its SCIM token is the only credential.
function gates.scim(r, set)
  gates.proxy(r, set)
  limits = limits or part(r, 'limits.lua')
  if not limits(r, nil) then return refuse(r, 503, '1') end
  if r.subprocess_env['svc_scim_token'] then set['Authorization'] = nil end
end
function gates.user(r, set, person)
  gates.proxy(r, set)
  limits = limits or part(r, 'limits.lua')
  if not limits(r, person and person.subject) then return refuse(r, 503, '1') end
  if person == nil then
    if r.subprocess_env['svc_personal_token'] == nil then return refuse(r, 401) end
    set['Authorization'] = nil
    return
  end
  set['X-Token-Subject'], set['X-Token-User-Email'], set['X-Token-User-Name'] = person.subject, person.email, person.name
end
function gates.tenant_user(r, set, person)
  gates.proxy(r, set)
  return vouch(r, person, set)
end
-- Backends must receive neither the proxy secret nor the credential.
function gates.backend(r, set, person)
  set['Authorization'] = false
  return vouch(r, person, set)
end

function caller(r)
  local env = r.subprocess_env
  local gate = env['svc_gate']
  -- Requests at these gates are not forwarded.
  if gate == 'login' or gate == 'signed_out' then return apache2.DECLINED end
  if gates[gate] == nil then return 404 end
  local person
  if env['svc_login'] then
    if r.user == nil or r.user == '' then return refuse(r, 401) end
    if is_foreign(r) then return refuse(r, 403) end
    person = claims(r)
  end
  local set = {
    ['X-Forwarded-For'] = r.useragent_ip, ['X-Forwarded-Host'] = r.headers_in['Host'],
    ['X-Forwarded-Proto'] = r.is_https and 'https' or 'http',
    ['X-Request-Id'] = (env['UNIQUE_ID'] or ''):gsub('@', '.'),
  }
  local refused = gates[gate](r, set, person)
  if refused then return refused end
  for name in pairs(r:headers_in_table()) do
    if is_own(name) then r.headers_in[name] = nil end
  end
  r.headers_in['Connection'] = connection(r.headers_in['Connection'] or '')
  r.headers_in['Cookie'] = cookies(r.headers_in['Cookie'] or '')
  for name, value in pairs(set) do r.headers_in[name] = value or nil end
  return apache2.DECLINED
end

-- Releases the slot of a finished request, possibly in another thread.
function ended(r)
  local slot = r.subprocess_env['svc_place']
  if slot then r:ivm_set(slot, 0) end
  return apache2.DECLINED
end
