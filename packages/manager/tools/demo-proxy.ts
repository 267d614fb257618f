// The proxy of `npm run demo` stands in for the reference proxy on one port of this machine. Instead of an identity
// provider, it has a start page with two doors. It is not for production: it requires no password.
// The doors serve the routes of docs/guides/proxies/write-a-proxy.md.
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { Duplex } from 'node:stream'
import { json } from 'node:stream/consumers'
import type { DemoShop } from './demo-data.ts'
import { type Door, createAddresses, createSessionCookie, findDoor, isSignedIn } from './demo-doors.ts'
import { pageHeaders, readShellFile, readStyles } from './demo-files.ts'
import { type TrustedHeaders, forward, forwardSocket, listen, refuseSocket } from './demo-forward.ts'
import { renderClosedPage, renderSignedOutPage, stylesPath } from './demo-layout.ts'
import type { PlaceOrder } from './demo-orders.ts'
import { type Person, createIdentityHeaders } from './demo-people.ts'
import { findRoute } from './demo-routes.ts'
import { renderStartPage } from './demo-start.ts'

type Options = { port: number; managerPort: number; secret: string; shop: DemoShop; placeOrder: PlaceOrder }
type ProxyResponse = { status: number; headers?: Record<string, string>; body?: string }
type Decision = { trustedHeaders: TrustedHeaders } | ProxyResponse

const maxBodyBytes = 4_096
const noStoreHeaders = { 'cache-control': 'no-store' }
const sendJson = (status: number, body: object): ProxyResponse => ({
  status,
  headers: { ...noStoreHeaders, 'content-type': 'application/json' },
  body: JSON.stringify(body),
})
const refuse = (status: number, error: string): ProxyResponse => sendJson(status, { error })
const noRoute = refuse(404, 'no such route')
const redirect = (location: string, more: Record<string, string> = {}): ProxyResponse => ({
  status: 303,
  headers: { ...noStoreHeaders, location, ...more },
})
const serveContent = (type: string, body: string, more: Record<string, string> = {}): ProxyResponse => ({
  status: 200,
  headers: { ...pageHeaders, 'content-type': type, ...more },
  body,
})
const servePage = (body: string): ProxyResponse =>
  serveContent('text/html; charset=utf-8', body, noStoreHeaders)
const isReadRequest = ({ method }: IncomingMessage): boolean => method === 'GET' || method === 'HEAD'
const isNavigation = (request: IncomingMessage): boolean =>
  isReadRequest(request) && request.headers.accept?.includes('text/html') === true
const getPath = ({ url = '/' }: IncomingMessage): string => url.split('?', 1)[0] ?? '/'
const redirectToSignIn = ({ url = '/' }: IncomingMessage): ProxyResponse =>
  redirect(`/sign-in?${new URLSearchParams({ next: url })}`)

/** Starts the proxy on loopback. */
export function startDemoProxy(options: Options): Promise<{ close: () => Promise<void> }> {
  const port = options.managerPort
  const decideOrRefuse = (request: IncomingMessage): Promise<Decision> =>
    decide(request, options).catch(() => refuse(503, 'the Manager does not respond; try again later'))
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const decision = await decideOrRefuse(request)
    if ('trustedHeaders' in decision) return forward(request, response, { port, ...decision })
    const { status, headers = {}, body } = decision
    response.writeHead(status, headers).end(request.method === 'HEAD' ? undefined : body)
  }
  const upgrade = async (request: IncomingMessage, socket: Duplex): Promise<void> => {
    socket.on('error', () => socket.destroy())
    // Other upgrade protocols would bypass the gate.
    const isWebSocket = request.headers.upgrade?.toLowerCase() === 'websocket'
    const decision = isWebSocket ? await decideOrRefuse(request) : { status: 400 }
    if ('trustedHeaders' in decision) forwardSocket(request, socket, { port, ...decision })
    else refuseSocket(socket, decision.status)
  }
  const server = createServer((request, response) => void respond(request, response))
  server.on('upgrade', (request, socket) => void upgrade(request, socket))
  return listen(server, options.port)
}

/** Returns the proxy's own response, or the headers with which it forwards the request to the Manager. */
async function decide(request: IncomingMessage, options: Options): Promise<Decision> {
  const door = findDoor(request, options.port)
  if (door === null) return refuse(421, `unknown host; open ${createAddresses(options.port).start}`)
  if (isReadRequest(request) && getPath(request) === stylesPath)
    return serveContent('text/css; charset=utf-8', readStyles())
  if (door === 'start') return serveStart(request, options)
  const person = isSignedIn(request, door) ? door.person : null
  // Pages on other ports of this machine belong to the same site, so browsers send the cookie with the requests of
  // these pages too.
  if (!isReadRequest(request) && !isSameOrigin(request)) return refuse(403, 'Cross-origin request rejected')
  const visit: Visit = { door, person, options }
  const route = findRoute(door.kind, request.method ?? 'GET', getPath(request))
  if (route === null)
    return door.kind === 'application' ? serveShop(request, visit) : serveOwnPage(request, visit)
  return route === 'reserved' ? noRoute : applyGate(request, route, visit)
}

/** `person` is null if the cookie of the door is missing. */
type Visit = { door: Door; person: Person | null; options: Options }
type FoundRoute = Exclude<ReturnType<typeof findRoute>, null | 'reserved'>

async function applyGate(
  request: IncomingMessage,
  { gate, tenantId, applicationId }: FoundRoute,
  { person, options }: Visit,
): Promise<Decision> {
  const { shop } = options
  const ownTenantId = person === null ? undefined : shop.tenants[person.tenant?.slug ?? '']?.id
  if ((applicationId ?? shop.application.id) !== shop.application.id) return noRoute
  if (tenantId !== undefined && tenantId !== ownTenantId) return noRoute
  const { authorization = '' } = request.headers
  const secret = { 'x-proxy-auth': options.secret }
  switch (gate) {
    case 'open':
    case 'machine':
      return { trustedHeaders: authorization === '' ? {} : { authorization } }
    case 'proxy':
      return { trustedHeaders: secret }
    case 'scim':
      return {
        trustedHeaders: /^bearer scim_[\w-]+$/i.test(authorization) ? { ...secret, authorization } : secret,
      }
    case 'user':
      if (/^bearer pat_\w+$/i.test(authorization)) return { trustedHeaders: { ...secret, authorization } }
      if (person !== null) return { trustedHeaders: { ...secret, ...createIdentityHeaders(person) } }
      if (isNavigation(request)) return redirectToSignIn(request)
      return refuse(401, 'sign in, or send a personal access token')
    case 'tenant_user': {
      if (person === null) return refuse(401, 'sign in')
      const tenant = await findTenant(person, options)
      if (tenant === null) return refuse(403, 'no access to this application or tenant')
      return { trustedHeaders: { ...secret, 'x-user-id': person.subject, 'x-tenant-id': tenant.id } }
    }
  }
}

/**
 * Returns true if a page of this origin sent the request. Sec-Fetch-Site takes precedence, because a page that sends no
 * referrer sends `Origin: null`.
 */
const isSameOrigin = ({ headers: { 'sec-fetch-site': site, origin, host } }: IncomingMessage): boolean =>
  site === undefined
    ? origin === undefined || origin === `http://${host}`
    : ['same-origin', 'none'].includes(site)

async function askManager<T>({ managerPort, secret }: Options, path: string, body?: object): Promise<T> {
  const response = await fetch(`http://127.0.0.1:${managerPort}${path}`, {
    headers: { 'x-proxy-auth': secret, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`${path} returned ${response.status}`)
  return (await response.json()) as T
}

type Tenant = { id: string; name: string }
type Access = { application: { has_access: boolean; available_tenants: Tenant[] } }

/**
 * Returns the tenant of a person, or null if they may not use the application there. Asks the Manager on every request, so
 * that access ends immediately when it is revoked.
 */
async function findTenant(person: Person, options: Options): Promise<Tenant | null> {
  const { subject: user_id, email, name } = person
  const { shop } = options
  const accessQuery = { user_id, email, name, application_id: shop.application.id }
  const { application } = await askManager<Access>(options, '/api/validate-oauth-user', accessQuery)
  const ownId = shop.tenants[person.tenant?.slug ?? '']?.id
  return application.has_access
    ? (application.available_tenants.find(({ id }) => id === ownId) ?? null)
    : null
}

const serveStart = (request: IncomingMessage, { port, shop }: Options): ProxyResponse => {
  if (!isReadRequest(request)) return noRoute
  // Browsers request the icon automatically.
  if (getPath(request) === '/favicon.ico') return { status: 204 }
  return getPath(request) === '/' ? servePage(renderStartPage(createAddresses(port), shop)) : noRoute
}

/** Serves the routes that both doors share, such as signing in and signing out. */
function serveOwnPage(request: IncomingMessage, { door, options }: Visit): ProxyResponse {
  const path = getPath(request)
  const isSignOut = path === '/-/logout' || (request.method === 'POST' && path === '/sign-out')
  if (isSignOut) return redirect('/signed-out', { 'set-cookie': createSessionCookie(null) })
  if (!isReadRequest(request)) return noRoute
  switch (path) {
    case '/':
      return redirect('/console/')
    case '/favicon.ico':
      return { status: 204 }
    case '/sign-in': {
      const next = toLocalPath(new URL(request.url ?? '/', 'http://localhost').searchParams.get('next'))
      return redirect(next, { 'set-cookie': createSessionCookie(door.person) })
    }
    case '/signed-out':
      return servePage(renderSignedOutPage(door, createAddresses(options.port)))
    default:
      return noRoute
  }
}

/** Serves the application: its page, its files and its backend. */
async function serveShop(request: IncomingMessage, visit: Visit): Promise<ProxyResponse> {
  const { door, person, options } = visit
  const path = getPath(request)
  const isOrder = request.method === 'POST' && path === '/orders'
  if (path === '/' || path === '/page-config.js' || isOrder) {
    if (person === null) return isOrder ? refuse(401, 'sign in') : redirectToSignIn(request)
    const tenant = await findTenant(person, options)
    if (isOrder)
      return tenant === null ? refuse(403, 'no access') : takeOrder(request, { person, tenant }, options)
    if (!isReadRequest(request)) return noRoute
    if (path === '/page-config.js')
      return tenant === null ? refuse(403, 'no access') : servePageConfig({ person, tenant }, options)
    if (tenant === null) return servePage(renderClosedPage(door, createAddresses(options.port)))
  }
  const file = isReadRequest(request) ? readShellFile(path) : null
  return file === null ? serveOwnPage(request, visit) : serveContent(file.type, file.content)
}

type Customer = { person: Person; tenant: Tenant }

/** Passes an order to the backend of the shop. */
async function takeOrder(
  request: IncomingMessage,
  customer: Customer,
  { placeOrder }: Options,
): Promise<ProxyResponse> {
  if (!(Number(request.headers['content-length']) <= maxBodyBytes))
    return refuse(413, 'the order is too long')
  const { count } = ((await json(request).catch(() => null)) ?? {}) as { count?: unknown }
  if (!Number.isInteger(count)) return refuse(400, 'send {"count": …}')
  const { status, body } = await placeOrder(customer, count as number)
  return sendJson(status, body)
}

/** Returns the page configuration. It contains the keys that the pilet loader trusts. */
async function servePageConfig({ person, tenant }: Customer, options: Options): Promise<ProxyResponse> {
  const { id, name } = options.shop.application
  const config = {
    pilet_signing_keys: await askManager(options, `/pilet-keys/${id}`),
    application: { id, name },
    tenant,
    user: { name: person.name },
  }
  return serveContent('text/javascript; charset=utf-8', `window.__SVC__ = ${JSON.stringify({ config })}\n`)
}

/** Returns `next` if it is a path on this host, otherwise `/`: a sign-in must not redirect to another host. */
const toLocalPath = (next: string | null): string =>
  next !== null && /^\/(?![/\\])[\x21-\x7e]*$/.test(next) ? next : '/'
