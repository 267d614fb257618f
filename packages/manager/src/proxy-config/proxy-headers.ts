// Only a proxy may set these headers: they identify the caller, the client address and the request. The reference
// proxies (deploy/proxy/) remove them from client requests, and the gateway removes them from requests to partners.

export const proxyHeaders: readonly string[] = [
  'forwarded',
  'traceparent',
  'tracestate',
  'x-proxy-auth',
  'x-real-ip',
  'x-request-id',
  'x-tenant-id',
  'x-user-id',
]
export const proxyHeaderPrefixes: readonly string[] = ['oidc-', 'x-forwarded-', 'x-svc-', 'x-token-']

const names = new Set(proxyHeaders)

/** Returns true if only a proxy may set the header. `name` is lowercase, with hyphens instead of underscores. */
export const isProxyHeader = (name: string): boolean =>
  names.has(name) || proxyHeaderPrefixes.some((prefix) => name.startsWith(prefix))
