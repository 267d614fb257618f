// Asks the Manager whose a credential is, and what its owner may do in the application of the host. The answer is 204 with the
// user and the tenant, 401, or 403 with the status that the client gets instead.
const refuse = (r, status, retryAfter) => {
  r.headersOut['X-Svc-Refusal'] = String(status)
  if (retryAfter) r.headersOut['Retry-After'] = retryAfter
  r.return(403)
}

// The tenant of the host; on a host that tenants share the one that the client names, else the only one. Undefined when it
// is none of theirs.
function tenantOf(r, validation) {
  const available = validation.application.available_tenants.map((tenant) => tenant.id)
  const wanted = r.variables.svc_dedicated_tenant || (r.headersIn['X-Select-Tenant'] || '').toLowerCase()
  if (wanted !== '') return available.includes(wanted) ? wanted : undefined
  return validation.tenant === null ? '' : validation.tenant.id
}

async function caller(r) {
  const authorization = r.headersIn['Authorization']
  if (!authorization) return r.return(401)
  let answer
  let validation
  try {
    answer = await ngx.fetch(`${r.variables.svc_manager_url}/api/validate-proxy-auth`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'X-Proxy-Auth': r.variables.svc_proxy_secret,
        'X-Forwarded-For': r.remoteAddress,
        'X-Request-Id': r.variables.request_id,
      },
      body: JSON.stringify({
        authorization_header: authorization,
        application_id: r.variables.svc_application,
      }),
    })
    validation = JSON.parse(await answer.text())
  } catch (error) {
    r.error(`credentials cannot be checked: ${error.message}`)
    return refuse(r, 503, '1')
  }
  if (answer.status === 429) return refuse(r, 429, answer.headers.get('Retry-After'))
  // A 401 without `valid` is about the secret of the proxy.
  if (answer.status === 401 && validation.valid === false) return r.return(401)
  if (answer.status === 400) return r.return(401)
  if (answer.status !== 200 || validation.valid !== true)
    return refuse(r, 503, answer.headers.get('Retry-After') || '1')
  const tenant = validation.application.has_access ? tenantOf(r, validation) : undefined
  if (tenant === undefined) return refuse(r, 403)
  r.headersOut['X-Svc-User'] = validation.user.id
  r.headersOut['X-Svc-Tenant'] = tenant
  r.return(204)
}

export default { caller }
