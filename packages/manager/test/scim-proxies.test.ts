// Tests SCIM behind both reference proxies: a real Apache that signs people in, and a real nginx. An identity provider has no
// session, so its token must pass without one.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { proxySecret } from '@manager/harness/callers.ts'
import { createToken } from '@manager/harness/credentials.ts'
import { startApache } from '@manager/harness/engines/apache.ts'
import { createReferenceProxy } from '@manager/harness/engines/nginx-proxy.ts'
import { startOidcProvider } from '@manager/harness/engines/oidc-provider.ts'
import { rawCall } from './kit/http.ts'
import { useProject } from './kit/project.ts'
import { renderProxy } from './kit/rendered-proxy.ts'
import { createScimToken, errorSchema, newGroup, newUser } from './kit/scim.ts'
import { signIn } from './kit/sign-in.ts'

const { service, admin } = useProject({ slug: 'shop' })
const management = '127.0.0.1'
type Line = [name: string, value: string]
const ports = { apache: 0, nginx: 0 }
let token: Line
let personal: Line
let session: Line
const closing: (() => Promise<void>)[] = []

beforeAll(async () => {
  token = ['authorization', `Bearer ${(await createScimToken(service, admin)).token}`]
  personal = ['authorization', `Bearer ${(await createToken(service, admin)).token}`]
  const of = { managerUrl: service.url, secret: proxySecret }
  const render = (form: 'nginx' | 'apache') =>
    renderProxy(service, { form, management, backendUrl: 'http://127.0.0.1:1' })
  const provider = await startOidcProvider([{ id: admin.id, email: 'a@example.com', name: 'Admin' }])
  const apache = await startApache({ ...of, provider, rendered: await render('apache') })
  const nginx = await createReferenceProxy(of)
  await nginx.start(await render('nginx'))
  for (const one of [apache, nginx, provider]) closing.push(() => one.close())
  Object.assign(ports, { apache: apache.port, nginx: nginx.port })
  session = (await signIn({ port: apache.port, host: management, login: admin.id, path: '/console/' })).cookie
}, 180_000)
afterAll(async () => {
  for (const close of closing) await close()
})

const send = (port: number, method: string, path: string, headers: Line[], body?: object) =>
  rawCall(`http://127.0.0.1:${port}`, {
    method,
    path: `/scim/v2${path}`,
    host: `${management}:${port}`,
    headers: [...headers, ...(body === undefined ? [] : [['content-type', 'application/scim+json'] as Line])],
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })

describe.each(['apache', 'nginx'] as const)('behind %s', (proxy) => {
  test('[scim.proxy] every method passes with a SCIM token and without a session', async () => {
    const port = ports[proxy]
    const body = newUser()
    const created = await send(port, 'POST', '/Users', [token], body)
    expect([created.status, created.headers['content-type']]).toEqual([
      201,
      'application/scim+json; charset=utf-8',
    ])
    const path = `/Users/${body.externalId}`
    const patch = { Operations: [{ op: 'replace', path: 'displayName', value: 'X' }] }
    expect((await send(port, 'GET', path, [token, ['if-none-match', 'W/"1"']])).status).toBe(304)
    expect((await send(port, 'PATCH', path, [token, ['if-match', 'W/"1"']], patch)).status).toBe(200)
    expect((await send(port, 'PUT', path, [token], body)).status).toBe(200)
    const filter = encodeURIComponent(`userName eq "${String(body['userName'])}"`)
    expect(JSON.parse((await send(port, 'GET', `/Users?filter=${filter}`, [token])).body)).toMatchObject({
      totalResults: 1,
    })
    for (const document of ['ServiceProviderConfig', 'ResourceTypes', 'ResourceTypes/User', 'Schemas'])
      expect((await send(port, 'GET', `/${document}`, [token])).status).toBe(200)
    const schema = encodeURIComponent('urn:ietf:params:scim:schemas:core:2.0:User')
    expect((await send(port, 'GET', `/Schemas/${schema}`, [token])).status).toBe(200)
    expect((await send(port, 'DELETE', path, [token])).status).toBe(204)
  })

  test('[scim.proxy] every method passes for groups, also with a body of several MiB', async () => {
    const port = ports[proxy]
    const body = newGroup()
    const created = await send(port, 'POST', '/Groups', [token], body)
    expect(created.status).toBe(201)
    const path = `/Groups/${(JSON.parse(created.body) as { id: string }).id}`
    expect((await send(port, 'GET', `${path}?excludedAttributes=members`, [token])).status).toBe(200)
    const patch = { Operations: [{ op: 'remove', path: 'members' }] }
    expect((await send(port, 'PATCH', path, [token], patch)).status).toBe(200)
    const large = { ...body, note: 'x'.repeat(3_500_000) }
    expect((await send(port, 'PUT', path, [token], large)).status).toBe(200)
    expect((await send(port, 'GET', '/Groups?count=1', [token])).status).toBe(200)
    expect((await send(port, 'DELETE', path, [token])).status).toBe(204)
  })

  test('[scim.proxy] nothing else passes: no token, another token, a session, forged headers or another path', async () => {
    const port = ports[proxy]
    const forged: Line[] = [
      ['x-proxy-auth', proxySecret],
      ['x-token-subject', admin.id],
    ]
    for (const headers of [[], [personal], [session], forged, [['authorization', 'Bearer scim_x'] as Line]]) {
      const answer = await send(port, 'GET', '/Users', headers)
      expect([answer.status, JSON.parse(answer.body)]).toMatchObject([401, { schemas: [errorSchema] }])
    }
    for (const path of ['/Me', '/Bulk', '/Users/a/b', '/Groups/a/b'])
      expect((await send(port, 'GET', path, [token])).status).toBe(404)
  })
})
