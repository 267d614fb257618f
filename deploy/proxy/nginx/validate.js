// Asks the Manager whose a credential is, and what its owner may do in the application of the host. The answer is 204 with the
// user and the tenant, 401, or 403 with the status that the client gets instead. It is written for njs 0.7 and newer: that
// one knows no destructuring, and an `await` between `try` and `catch` may end its process.

/* global ngx */

/** The status and the body, or null when there was no answer that can be read. */
function ask(r, authorization) {
  const question = { authorization_header: authorization, application_id: r.variables.svc_application }
  return ngx
    .fetch(`${r.variables.svc_manager_url}/api/validate-proxy-auth`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'X-Proxy-Auth': r.variables.svc_proxy_secret,
        'X-Forwarded-For': r.remoteAddress,
        'X-Request-Id': r.variables.request_id,
      },
      body: JSON.stringify(question),
    })
    .then((answer) =>
      answer.text().then((text) => ({
        status: answer.status,
        retryAfter: answer.headers.get('Retry-After'),
        body: JSON.parse(text),
      })),
    )
    .catch((error) => {
      r.error(`credentials cannot be checked: ${error.message}`)
      return null
    })
}

/**
 * The tenant of the host; on a host that tenants share the one that the client names, else their only one. Null when it is
 * none of theirs.
 */
function tenantOf(r, validation) {
  const available = validation.application.available_tenants.map((tenant) => tenant.id)
  const wanted = r.variables.svc_dedicated_tenant || (r.headersIn['X-Select-Tenant'] || '').toLowerCase()
  if (wanted !== '') return available.includes(wanted) ? wanted : null
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
  const answer = await ask(r, authorization)
  if (answer === null) return refuse(r, 503, '1')
  const status = answer.status
  const body = answer.body
  if (status === 429) return refuse(r, 429, answer.retryAfter)
  // Without `valid` a 401 is about the secret of the proxy, not about the caller.
  if ((status === 401 || status === 400) && body.valid === false) return r.return(401)
  if (status !== 200 || body.valid !== true) return refuse(r, 503, answer.retryAfter || '1')
  const tenant = body.application.has_access ? tenantOf(r, body) : null
  if (tenant === null) return refuse(r, 403)
  // Inboxes are those of people.
  if (r.variables.svc_gate === 'tenant_user' && body.user.is_machine_user) return refuse(r, 403)
  r.headersOut['X-Svc-User'] = body.user.id
  r.headersOut['X-Svc-Tenant'] = tenant
  return r.return(204)
}

export default { caller }
