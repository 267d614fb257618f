// The proxy of `npm run demo`: a stand-in for the reference proxy on one port of this machine, with two people to choose from
// instead of an identity provider. It is not for production: nobody needs a password here.
//
// `http://localhost:<port>` is the host of the application, `http://127.0.0.1:<port>` that of the Manager; what each of them
// has is what docs/proxy.md says.
import { once } from 'node:events'
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http'
import type { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pageHeaders, shellFile } from './demo-files.ts'
import { type Vouched, forward, forwardSocket, refuseSocket } from './demo-forward.ts'
import {
  type Person,
  type Sessions,
  createSessions,
  identityOf,
  managerPage,
  people,
  signInPage,
} from './demo-people.ts'
import { type FoundRoute, type HostKind, findRoute } from './demo-routes.ts'

type DemoPlace = {
  applicationId: string
  applicationName: string
  tenants: Readonly<Record<string, { id: string; name: string }>>
}
type Options = { port: number; managerPort: number; secret: string; place: DemoPlace }
type Answer = { status: number; headers?: Record<string, string>; body?: string }
type Decision = { vouched: Vouched } | Answer

const maxFormBytes = 4_096
const refusal = (status: number, error: string): Answer => ({
  status,
  headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
  body: JSON.stringify({ error }),
})
const page = (body: string): Answer => ({
  status: 200,
  headers: { ...pageHeaders, 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' },
  body,
})
const redirect = (location: string, more: Record<string, string> = {}): Answer => ({
  status: 303,
  headers: { location, 'cache-control': 'no-store', ...more },
})
const isRead = ({ method }: IncomingMessage): boolean => method === 'GET' || method === 'HEAD'
const pathOf = ({ url = '/' }: IncomingMessage): string => url.split('?', 1)[0] ?? '/'

/** Starts it on loopback. */
export async function startDemoProxy(options: Options): Promise<{ close: () => Promise<void> }> {
  const decide = createDecider(options)
  const target = { port: options.managerPort }
  const server = createServer((request, response) => {
    const answer = async (): Promise<void> => {
      const decision = await decide(request)
      if ('vouched' in decision) forward(request, response, target, decision.vouched)
      else send(request, response, decision)
    }
    answer().catch(() => send(request, response, refusal(503, 'the Manager does not answer; try again')))
  })
  const sockets = new Set<Duplex>()
  server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
    sockets.add(socket.once('close', () => sockets.delete(socket)))
    socket.on('error', () => socket.destroy())
    const answer = async (): Promise<void> => {
      // Other protocols would pass by the gate.
      if (request.headers.upgrade?.toLowerCase() !== 'websocket') return refuseSocket(socket, 400)
      const decision = await decide(request)
      if ('vouched' in decision) forwardSocket(request, socket, target, decision.vouched)
      else refuseSocket(socket, decision.status)
    }
    answer().catch(() => refuseSocket(socket, 503))
  })
  server.listen(options.port, '127.0.0.1')
  await once(server, 'listening')
  return { close: () => close(server, sockets) }
}

async function close(server: Server, sockets: ReadonlySet<Duplex>): Promise<void> {
  for (const socket of sockets) socket.destroy()
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
}

function send(request: IncomingMessage, response: ServerResponse, { status, headers, body }: Answer): void {
  if (response.headersSent) return void response.destroy()
  response.writeHead(status, headers ?? {}).end(request.method === 'HEAD' ? undefined : body)
}

/** What becomes of a request: an answer of the proxy's own, or the headers with which the Manager gets it. */
function createDecider(options: Options): (request: IncomingMessage) => Promise<Decision> {
  const { port, place } = options
  const hosts = new Map<string, HostKind>([
    [`localhost:${port}`, 'application'],
    [`127.0.0.1:${port}`, 'management'],
  ])
  const sessions = createSessions()
  const own = createOwnPages(options, sessions)
  return async (request) => {
    const kind = hosts.get(request.headers.host ?? '')
    if (kind === undefined) return refusal(421, `ask localhost:${port} or 127.0.0.1:${port}`)
    const person = sessions.personOf(request)
    // Pages of other ports of this machine are of the same site, and get the cookie sent too.
    if (!isRead(request) && person !== null && !isFromOwnPage(request))
      return refusal(403, 'Cross-origin request rejected')
    const route = findRoute(kind, request.method ?? 'GET', pathOf(request))
    if (route === 'reserved') return refusal(404, 'no such route')
    if (route === null) return own(request, kind, person)
    if (route.applicationId !== null && route.applicationId !== place.applicationId)
      return refusal(404, 'no such route')
    if (route.tenantId !== null && (person === null || route.tenantId !== tenantOf(place, person)))
      return refusal(404, 'no such route')
    return passGate(request, route, person, options)
  }
}

/**
 * Whether a page of this origin sent the request, as far as the browser says. Pages without a referrer, such as that of
 * `svc login`, send `Origin: null`; then the other header has to say so.
 */
function isFromOwnPage({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site']
  const isOwnSite = site === 'same-origin' || site === 'none'
  if (site !== undefined && !isOwnSite) return false
  if (headers.origin === 'null') return isOwnSite
  return headers.origin === undefined || headers.origin === `http://${headers.host}`
}

const tenantOf = ({ tenants }: DemoPlace, { tenant }: Person): string => tenants[tenant]?.id ?? ''

async function passGate(
  request: IncomingMessage,
  { gate }: FoundRoute,
  person: Person | null,
  options: Options,
): Promise<Decision> {
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
      if (person !== null) return { vouched: { ...secret, ...identityOf(person) } }
      if (isRead(request) && request.headers.accept?.includes('text/html') === true)
        return redirect(`/sign-in?${new URLSearchParams({ next: request.url ?? '/' })}`)
      return refusal(401, 'sign in, or send a personal access token')
    case 'tenant_user': {
      if (person === null) return refusal(401, 'sign in')
      const tenantId = tenantOf(options.place, person)
      if (!(await hasAccess(person, tenantId, options)))
        return refusal(403, 'no access to this application or tenant')
      return { vouched: { ...secret, 'x-user-id': person.subject, 'x-tenant-id': tenantId } }
    }
  }
}

/** Asked for every request, so that access that was taken away is gone at once. */
async function hasAccess({ subject, email, name }: Person, tenantId: string, options: Options) {
  const { managerPort, secret, place } = options
  const response = await fetch(`http://127.0.0.1:${managerPort}/api/validate-oauth-user`, {
    method: 'POST',
    headers: { 'x-proxy-auth': secret, 'content-type': 'application/json' },
    body: JSON.stringify({ user_id: subject, email, name, application_id: place.applicationId }),
  })
  if (!response.ok) throw new Error(`validate-oauth-user answered ${response.status}`)
  const { application } = (await response.json()) as {
    application: { has_access: boolean; available_tenants: { id: string }[] }
  }
  return application.has_access && application.available_tenants.some(({ id }) => id === tenantId)
}

/** The pages of the proxy itself, and the files of the shell. */
function createOwnPages({ port, managerPort, secret, place }: Options, sessions: Sessions) {
  const keysUrl = `http://127.0.0.1:${managerPort}/pilet-keys/${place.applicationId}`
  /** What the proxy writes for the page: above all the keys whose signatures the loader trusts. */
  const pageConfig = async (person: Person): Promise<Answer> => {
    const keys = await fetch(keysUrl, { headers: { 'x-proxy-auth': secret } })
    if (!keys.ok) throw new Error(`pilet-keys answered ${keys.status}`)
    const config = {
      pilet_signing_keys: await keys.json(),
      application: { id: place.applicationId, name: place.applicationName },
      tenant: place.tenants[person.tenant],
      user: { name: person.name },
    }
    const headers = { ...pageHeaders, 'content-type': 'text/javascript; charset=utf-8' }
    return { status: 200, headers, body: `window.__SVC__ = ${JSON.stringify({ config })}\n` }
  }
  const post = async (request: IncomingMessage): Promise<Answer> => {
    if (pathOf(request) === '/sign-out') return redirect('/sign-in', { 'set-cookie': sessions.end(request) })
    if (!(Number(request.headers['content-length']) <= maxFormBytes))
      return refusal(413, 'the form is too long')
    const form = new URLSearchParams(await text(request))
    const chosen = people.find(({ key }) => key === form.get('person'))
    if (chosen === undefined) return refusal(400, 'choose one of the people of the page')
    return redirect(ownPath(form.get('next')), { 'set-cookie': sessions.begin(chosen) })
  }
  return async (request: IncomingMessage, kind: HostKind, person: Person | null): Promise<Answer> => {
    const path = pathOf(request)
    if (request.method === 'POST' && (path === '/sign-in' || path === '/sign-out')) return post(request)
    if (!isRead(request)) return refusal(404, 'no such route')
    // Browsers ask for one by themselves.
    if (path === '/favicon.ico') return { status: 204 }
    if (path === '/sign-in')
      return page(
        signInPage(ownPath(new URL(request.url ?? '/', 'http://localhost').searchParams.get('next'))),
      )
    if (person === null && (path === '/' || path === '/page-config.js')) return redirect('/sign-in')
    if (person !== null && path === '/page-config.js') return pageConfig(person)
    if (person !== null && kind === 'management' && path === '/')
      return page(managerPage(person, `http://localhost:${port}/`))
    const file = kind === 'application' || path === '/examples/shell/shell.css' ? shellFile(path) : null
    if (file === null) return refusal(404, 'no such route')
    return { status: 200, headers: { ...pageHeaders, 'content-type': file.type }, body: file.content }
  }
}

/** A path of this host; anything else leads to its root. */
const ownPath = (text: string | null): string =>
  text !== null && /^\/(?![/\\])[\x21-\x7e]*$/.test(text) ? text : '/'
