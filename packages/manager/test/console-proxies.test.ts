// Tests the console behind both reference proxies: a real Apache that signs people in, and a real nginx that accepts
// personal access tokens.
import { rmSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { proxySecret } from '@manager/harness/callers.ts'
import { createToken } from '@manager/harness/credentials.ts'
import { startApache } from '@manager/harness/engines/apache.ts'
import { createReferenceProxy } from '@manager/harness/engines/nginx-proxy.ts'
import { startOidcProvider } from '@manager/harness/engines/oidc-provider.ts'
import { writeConsoleBuild } from './kit/console.ts'
import { rawCall } from './kit/http.ts'
import { useProject } from './kit/project.ts'
import { renderProxy } from './kit/rendered-proxy.ts'
import { signIn } from './kit/sign-in.ts'

const folder = writeConsoleBuild('the console', { 'index-1.js': 'the script' })
const { service, person } = useProject({ slug: 'shop', world: { consoleFolder: folder } })
const management = '127.0.0.1'
const views = ['/console', '/console/', '/console/shop/tenants?page=2', '/console/shop/esb%2F1']

type Line = [name: string, value: string]
const navigation: Line[] = [
  ['Accept', 'text/html'],
  ['Sec-Fetch-Mode', 'navigate'],
]
/** The headers of a request that a script sends to its own host. */
const fetched: Line[] = [
  ['Accept', '*/*'],
  ['Sec-Fetch-Mode', 'cors'],
  ['Sec-Fetch-Site', 'same-origin'],
]
const ports = { apache: 0, nginx: 0 }
let issuer: string
let session: Line
let bearer: Line
const closing: (() => Promise<void>)[] = []

beforeAll(async () => {
  const alice = await person('alice')
  bearer = ['authorization', `Bearer ${(await createToken(service, alice)).token}`]
  const of = { managerUrl: service.url, secret: proxySecret }
  const render = (form: 'nginx' | 'apache') =>
    renderProxy(service, { form, management, backendUrl: 'http://127.0.0.1:1' })
  const provider = await startOidcProvider([{ id: alice.id, email: 'alice@example.com', name: 'Alice' }])
  const apache = await startApache({ ...of, provider, rendered: await render('apache') })
  const nginx = await createReferenceProxy(of)
  await nginx.start(await render('nginx'))
  for (const one of [apache, nginx, provider]) closing.push(() => one.close())
  Object.assign(ports, { apache: apache.port, nginx: nginx.port })
  issuer = provider.issuer
  const [path] = views as [string]
  session = (await signIn({ port: apache.port, host: management, login: alice.id, path })).cookie
}, 180_000)
afterAll(async () => {
  for (const close of closing) await close()
  rmSync(folder, { recursive: true })
})

const open = async (port: number, path: string, headers: Line[]) => {
  const answer = await rawCall(`http://127.0.0.1:${port}`, { path, host: `${management}:${port}`, headers })
  return { ...answer, seen: [path, answer.status, answer.body] }
}
const query = (port: number, headers: Line[]) =>
  rawCall(`http://127.0.0.1:${port}`, {
    method: 'POST',
    path: '/query',
    host: `${management}:${port}`,
    headers: [...headers, ['content-type', 'application/json']],
    body: '{"query": "{ me { id } }"}',
  })

describe('behind Apache', () => {
  test('every view opens after the sign-in, with its headers', async () => {
    for (const view of views) {
      const { seen, headers } = await open(ports.apache, view, [...navigation, session])
      expect(seen).toEqual([view, 200, 'the console'])
      expect(headers['content-security-policy']).toContain("trusted-types 'none'")
    }
    expect((await query(ports.apache, [...fetched, session])).status).toBe(200)
  })

  test('without a session a view goes to the provider, and a request of the console gets a 401', async () => {
    for (const view of views) {
      const { status, headers } = await open(ports.apache, view, navigation)
      expect([view, status, headers['location']]).toEqual([
        view,
        302,
        expect.stringContaining(`${issuer}/auth?`),
      ])
      expect((await open(ports.apache, view, fetched)).status).toBe(401)
    }
    expect((await query(ports.apache, fetched)).status).toBe(401)
  })
})

describe('behind nginx', () => {
  test('every view opens with a personal access token; without one, the page says to sign in', async () => {
    for (const view of views) {
      expect((await open(ports.nginx, view, [...navigation, bearer])).seen).toEqual([
        view,
        200,
        'the console',
      ])
      expect((await open(ports.nginx, view, navigation)).seen).toEqual([
        view,
        401,
        expect.stringContaining('You are not signed in'),
      ])
    }
    expect((await query(ports.nginx, fetched)).status).toBe(401)
  })
})

test.each(['apache', 'nginx'] as const)('%s serves the files without a sign-in', async (proxy) => {
  const file = await open(ports[proxy], '/console/assets/index-1.js', fetched)
  expect([file.status, file.body, file.headers['cache-control']]).toEqual([
    200,
    'the script',
    'public, max-age=31536000, immutable',
  ])
  const missing = await open(ports[proxy], '/console/assets/index-0.js', fetched)
  expect([missing.status, missing.headers['cache-control']]).toEqual([404, 'no-store'])
})
