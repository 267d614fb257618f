// The proxy of `npm run demo` stands in for the reference proxy on one port of this machine. Instead of an identity
// provider, it offers two people to choose from. It is not for production: it requires no password.
// `http://localhost:<port>` is the host of the application, and `http://127.0.0.1:<port>` is the host of the Manager,
// with the routes of docs/guides/proxies/write-a-proxy.md.
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import { type DemoShop, type Person, createIdentityHeaders, people } from './demo-data.ts'
import { pageHeaders, readShellFile } from './demo-files.ts'
import { type VouchedHeaders, forward, forwardSocket, listen, refuseSocket } from './demo-forward.ts'
import { createSessionCookie, renderManagerPage, findPerson, renderSignInPage } from './demo-pages.ts'
import { type HostKind, findRoute } from './demo-routes.ts'

type Options = { port: number; managerPort: number; secret: string; shop: DemoShop }
type ProxyResponse = { status: number; headers?: Record<string, string>; body?: string }
type Decision = { vouched: VouchedHeaders } | ProxyResponse

const maxFormBytes = 4_096
const noStoreHeaders = { 'cache-control': 'no-store' }
const refuse = (status: number, error: string): ProxyResponse => ({
  status,
  headers: { ...noStoreHeaders, 'content-type': 'application/json' },
  body: JSON.stringify({ error }),
})
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
const getPath = ({ url = '/' }: IncomingMessage): string => url.split('?', 1)[0] ?? '/'

/** Starts the proxy on loopback. */
export function startDemoProxy(options: Options): Promise<{ close: () => Promise<void> }> {
  const port = options.managerPort
  const decideOrRefuse = (request: IncomingMessage): Promise<Decision> =>
    decide(request, options).catch(() => refuse(503, 'the Manager does not respond; try again later'))
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const decision = await decideOrRefuse(request)
    if ('vouched' in decision) return forward(request, response, { port, ...decision })
    const { status, headers = {}, body } = decision
    response.writeHead(status, headers).end(request.method === 'HEAD' ? undefined : body)
  }
  const upgrade = async (request: IncomingMessage, socket: Duplex): Promise<void> => {
    socket.on('error', () => socket.destroy())
    // Other upgrade protocols would bypass the gate.
    const isWebSocket = request.headers.upgrade?.toLowerCase() === 'websocket'
    const decision = isWebSocket ? await decideOrRefuse(request) : { status: 400 }
    if ('vouched' in decision) forwardSocket(request, socket, { port, ...decision })
    else refuseSocket(socket, decision.status)
  }
  const server = createServer((request, response) => void respond(request, response))
  server.on('upgrade', (request, socket) => void upgrade(request, socket))
  return listen(server, options.port)
}

/** Returns the proxy's own response, or the headers with which it forwards the request to the Manager. */
async function decide(request: IncomingMessage, options: Options): Promise<Decision> {
  const { port, shop } = options
  const kind = findHostKind(request, port)
  if (kind === null) return refuse(421, `unknown host; use localhost:${port} or 127.0.0.1:${port}`)
  const person = findPerson(request)
  // Pages on other ports of this machine belong to the same site, so browsers send the cookie with their requests too.
  if (!isReadRequest(request) && person !== null && !isFromOwnPage(request))
    return refuse(403, 'Cross-origin request rejected')
  const route = findRoute(kind, request.method ?? 'GET', getPath(request))
  if (route === null) return serveOwnPage(request, { kind, person, options })
  if (route === 'reserved') return noRoute
  const { applicationId = shop.application.id, tenantId, gate } = route
  const ownTenant = person === null ? undefined : shop.tenants[person.tenant]?.id
  if (applicationId !== shop.application.id || (tenantId !== undefined && tenantId !== ownTenant))
    return noRoute
  const { authorization = '' } = request.headers
  const secret = { 'x-proxy-auth': options.secret }
  switch (gate) {
    case 'open':
    case 'machine':
      return { vouched: authorization === '' ? {} : { authorization } }
    case 'proxy':
      return { vouched: secret }
    case 'user':
      if (/^bearer pat_\w+$/i.test(authorization)) return { vouched: { ...secret, authorization } }
      if (person !== null) return { vouched: { ...secret, ...createIdentityHeaders(person) } }
      if (isReadRequest(request) && request.headers.accept?.includes('text/html') === true)
        return redirect(`/sign-in?${new URLSearchParams({ next: request.url ?? '/' })}`)
      return refuse(401, 'sign in, or send a personal access token')
    case 'tenant_user':
      if (person === null) return refuse(401, 'sign in')
      if (ownTenant === undefined || !(await hasAccess(person, ownTenant, options)))
        return refuse(403, 'no access to this application or tenant')
      return { vouched: { ...secret, 'x-user-id': person.subject, 'x-tenant-id': ownTenant } }
  }
}

const findHostKind = ({ headers: { host } }: IncomingMessage, port: number): HostKind | null =>
  host === `localhost:${port}` ? 'application' : host === `127.0.0.1:${port}` ? 'management' : null

/**
 * Returns true if a page of this origin sent the request. Sec-Fetch-Site takes precedence, because a page that sends no
 * referrer sends `Origin: null`.
 */
const isFromOwnPage = ({ headers: { 'sec-fetch-site': site, origin, host } }: IncomingMessage): boolean =>
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

type Access = { application: { has_access: boolean; available_tenants: { id: string }[] } }

/** Asks the Manager on every request, so that access ends immediately when it is revoked. */
async function hasAccess(person: Person, tenantId: string, options: Options): Promise<boolean> {
  const { subject: user_id, email, name } = person
  const accessQuery = { user_id, email, name, application_id: options.shop.application.id }
  const { application } = await askManager<Access>(options, '/api/validate-oauth-user', accessQuery)
  return application.has_access && application.available_tenants.some(({ id }) => id === tenantId)
}

type Visit = { kind: HostKind; person: Person | null; options: Options }

/** Serves the pages of the proxy itself and the files of the shell. */
async function serveOwnPage(
  request: IncomingMessage,
  { kind, person, options }: Visit,
): Promise<ProxyResponse> {
  const path = getPath(request)
  if (request.method === 'POST' && path === '/sign-out')
    return redirect('/sign-in', { 'set-cookie': createSessionCookie(null) })
  if (request.method === 'POST' && path === '/sign-in') return signIn(request)
  if (!isReadRequest(request)) return noRoute
  // Browsers request the icon automatically.
  if (path === '/favicon.ico') return { status: 204 }
  if (path === '/sign-in')
    return servePage(
      renderSignInPage(toOwnPath(new URL(request.url ?? '/', 'http://localhost').searchParams.get('next'))),
    )
  if (path === '/page-config.js')
    return person === null ? redirect('/sign-in') : servePageConfig(person, options)
  if (path === '/' && person === null) return redirect('/sign-in')
  if (path === '/' && person !== null && kind === 'management')
    return servePage(renderManagerPage(person, `http://localhost:${options.port}/`))
  const file = kind === 'application' || path === '/examples/shell/shell.css' ? readShellFile(path) : null
  return file === null ? noRoute : serveContent(file.type, file.content)
}

async function signIn(request: IncomingMessage): Promise<ProxyResponse> {
  if (!(Number(request.headers['content-length']) <= maxFormBytes)) return refuse(413, 'the form is too long')
  const form = new URLSearchParams(await text(request))
  const selectedPerson = people.find(({ key }) => key === form.get('person'))
  if (selectedPerson === undefined) return refuse(400, 'choose one of the listed people')
  return redirect(toOwnPath(form.get('next')), { 'set-cookie': createSessionCookie(selectedPerson) })
}

/** Returns the page configuration. It contains the keys that the pilet loader trusts. */
async function servePageConfig({ name, tenant }: Person, options: Options): Promise<ProxyResponse> {
  const { application, tenants } = options.shop
  const config = {
    pilet_signing_keys: await askManager(options, `/pilet-keys/${application.id}`),
    application: { id: application.id, name: application.name },
    tenant: tenants[tenant],
    user: { name },
  }
  return serveContent('text/javascript; charset=utf-8', `window.__SVC__ = ${JSON.stringify({ config })}\n`)
}

/** Returns `next` if it is a path on this host, otherwise `/`: a sign-in must not redirect to another host. */
const toOwnPath = (next: string | null): string =>
  next !== null && /^\/(?![/\\])[\x21-\x7e]*$/.test(next) ? next : '/'
