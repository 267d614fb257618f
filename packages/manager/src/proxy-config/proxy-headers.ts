// Headers that only a proxy may set: they tell who is calling, from where, and as which request. The reference proxies
// remove them from what clients send (deploy/proxy/), and the gateway removes them from what partners receive.

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

/** Whether only a proxy may set the header; its name is in small letters, with hyphens for underscores. */
export const isProxyHeader = (name: string): boolean =>
  names.has(name) || proxyHeaderPrefixes.some((prefix) => name.startsWith(prefix))
