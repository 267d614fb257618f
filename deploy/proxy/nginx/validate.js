// Asks the Manager to identify a credential and to check access to the application of the host. Returns 204 with the
// user and the tenant, 401, or 403 with the status for the client. The code must run on njs 0.7, which does not support
// destructuring and can crash on an `await` between `try` and `catch`.

/* global ngx */

/** Resolves to status and body, or to null if there is no readable response. */
function askManager(r, authorization) {
  const body = { authorization_header: authorization, application_id: r.variables.svc_application }
  return ngx
    .fetch(`${r.variables.svc_manager_url}/api/validate-proxy-auth`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'X-Proxy-Auth': r.variables.svc_proxy_secret,
        'X-Forwarded-For': r.remoteAddress,
        'X-Request-Id': r.variables.request_id,
      },
      body: JSON.stringify(body),
    })
    .then((answer) =>
      answer.text().then((text) => ({
        status: answer.status,
        retryAfter: answer.headers.get('Retry-After'),
        body: JSON.parse(text),
      })),
    )
    .catch((error) => {
      r.error(`cannot validate credentials: ${error.message}`)
      return null
    })
}

/**
 * Returns the tenant of a dedicated host. On a shared host, returns the tenant that the client selects, or else the
 * owner's only one. Returns null if the tenant is not available to the owner of the credential.
 */
function findTenant(r, validation) {
  const availableIds = validation.application.available_tenants.map((tenant) => tenant.id)
  const requestedId = r.variables.svc_dedicated_tenant || (r.headersIn['X-Select-Tenant'] || '').toLowerCase()
  if (requestedId !== '') return availableIds.includes(requestedId) ? requestedId : null
  return validation.tenant === null ? '' : validation.tenant.id
}

function refuse(r, status, retryAfter) {
  r.headersOut['X-Svc-Refusal'] = String(status)
  if (retryAfter) r.headersOut['Retry-After'] = retryAfter
  r.return(403)
}

async function caller(r) {
  const authorization = r.headersIn['Authorization']
  if (!authorization) return r.return(401)
  const answer = await askManager(r, authorization)
  if (answer === null) return refuse(r, 503, '1')
  const status = answer.status
  const body = answer.body
  if (status === 429) return refuse(r, 429, answer.retryAfter)
  // A 401 without `valid` means that the proxy secret is wrong, not the credential of the caller.
  if ((status === 401 || status === 400) && body.valid === false) return r.return(401)
  if (status !== 200 || body.valid !== true) return refuse(r, 503, answer.retryAfter || '1')
  const tenant = body.application.has_access ? findTenant(r, body) : null
  if (tenant === null) return refuse(r, 403)
  // Only people have inboxes.
  if (r.variables.svc_gate === 'tenant_user' && body.user.is_machine_user) return refuse(r, 403)
  r.headersOut['X-Svc-User'] = body.user.id
  r.headersOut['X-Svc-Tenant'] = tenant
  return r.return(204)
}

export default { caller }
