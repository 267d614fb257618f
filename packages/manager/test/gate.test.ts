// Tests the proxy gate on all gated routes, with every kind of wrong secret and identity.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, startTestApp } from './kit/app.ts'
import { proxySecret, headersOf } from '@manager/harness/callers.ts'
import { createToken } from '@manager/harness/credentials.ts'
import { rawCall } from './kit/http.ts'
import { openRaw } from './kit/raw-socket.ts'
import { statusOf } from '@manager/harness/http-messages.ts'
import { gatedRoutes } from './kit/routes.ts'

const subject = '0b54bc1c-2b1f-4a68-9a55-0c8a51a4c0de'
const texts = {
  unset: /^manager misconfiguration: no proxy secret is configured/,
  secret: /^missing or invalid X-Proxy-Auth header/,
  absent: /^no authenticated user/,
  invalid: /^invalid authenticated user/,
}

let service: TestApp
let withoutSecret: TestApp

beforeAll(async () => {
  service = await startTestApp()
  withoutSecret = await startTestApp({ env: { SVC_PROXY_SECRET: undefined }, database: service.database })
})
afterAll(async () => {
  await withoutSecret.close()
  await service.close()
})

/**
 * Calls a gated route. Returns the status, the error message, and whether the body has exactly the error
 * shape.
 */
async function refusal(app: TestApp, route: { method: string; path: string }, headers: [string, string][]) {
  const answer = await rawCall(app.url, {
    ...route,
    headers: [['content-type', 'application/json'], ...headers],
    body: '{}',
  })
  const body = JSON.parse(answer.body) as Record<string, unknown>
  return {
    status: answer.status,
    text: body['error'],
    isErrorShape: typeof body['error'] === 'string' && !('errors' in body),
  }
}

const secret: [string, string] = ['X-Proxy-Auth', proxySecret]

describe('the proxy gate', () => {
  test('[gate.default-closed] the inventory is not empty and every API route is gated or names a reason', () => {
    expect(gatedRoutes(service).map((route) => `${route.method} ${route.path}`)).toContain('POST /query')
    const open = service.app.routes.filter((route) => 'open' in route.policy).map((route) => route.path)
    expect([...new Set(open)]).toEqual(['/health', '/api/machine/check'])
    const machine = service.app.routes.filter((route) => 'machine' in route.policy).map((route) => route.path)
    expect([...new Set(machine)].toSorted()).toEqual([
      '/api/machine/application/:id/tenants',
      '/api/machine/backend/:id',
      '/api/machine/backend/:id/heartbeat',
      '/api/machine/comms/emit',
      '/api/machine/comms/publish',
      '/api/machine/register-backend',
      '/esb/*',
    ])
  })

  test('[gate.secret-unset] [gate.body-shape] without a configured secret every gated route is closed', async () => {
    for (const route of gatedRoutes(withoutSecret))
      for (const headers of [[], [secret], [secret, ['X-Token-Subject', subject]]] as [string, string][][]) {
        const { status, text, isErrorShape } = await refusal(withoutSecret, route, headers)
        expect([status, isErrorShape]).toEqual([401, true])
        expect(text).toMatch(texts.unset)
      }
  })

  test('[gate.secret-wrong] [gate.body-shape] a missing, empty or wrong secret is refused', async () => {
    const wrong = [
      '',
      'wrong',
      `${proxySecret}x`,
      proxySecret.slice(0, -1),
      proxySecret.toUpperCase(),
      `${proxySecret}, ${proxySecret}`,
    ]
    for (const route of gatedRoutes(service))
      for (const value of [null, ...wrong]) {
        const headers: [string, string][] = value === null ? [] : [['X-Proxy-Auth', value]]
        const { status, text, isErrorShape } = await refusal(service, route, [
          ...headers,
          ['X-Token-Subject', subject],
        ])
        expect([status, isErrorShape]).toEqual([401, true])
        expect(text).toMatch(texts.secret)
      }
  })

  test('[gate.secret-repeated] two X-Proxy-Auth headers are refused even when one or both are right', async () => {
    for (const route of gatedRoutes(service))
      for (const pair of [
        [proxySecret, 'wrong'],
        ['wrong', proxySecret],
        [proxySecret, proxySecret],
      ]) {
        const { status, text } = await refusal(
          service,
          route,
          pair.map((value) => ['X-Proxy-Auth', value]),
        )
        expect(status).toBe(401)
        expect(text).toMatch(texts.secret)
      }
  })

  test('[gate.identity-absent] the right secret without identity is refused on user routes', async () => {
    for (const route of gatedRoutes(service).filter(({ needsUser }) => needsUser))
      for (const headers of [
        [secret],
        [secret, ['X-Token-Subject', '']],
        [secret, ['X_Token_Subject', subject]],
      ] as [string, string][][]) {
        const { status, text, isErrorShape } = await refusal(service, route, headers)
        expect([status, isErrorShape]).toEqual([401, true])
        expect(text).toMatch(texts.absent)
      }
  })

  test('[gate.identity-invalid] an X-Token-Subject that is no UUID is refused on user routes', async () => {
    const bad = [
      'alice',
      '1',
      `${subject}x`,
      `{${subject}}`,
      subject.replaceAll('-', ''),
      `${subject}, ${subject}`,
      '０b54bc1c',
    ]
    for (const route of gatedRoutes(service).filter(({ needsUser }) => needsUser))
      for (const value of bad) {
        const encoded = Buffer.from(value, 'utf8').toString('latin1')
        const { status, text, isErrorShape } = await refusal(service, route, [
          secret,
          ['X-Token-Subject', encoded],
        ])
        expect([status, isErrorShape]).toEqual([401, true])
        expect(text).toMatch(texts.invalid)
      }
  })

  test('[gate.before-credential] the secret is judged before any byte of the body is there, and before who is calling', async () => {
    const known = { id: subject, name: 'known' }
    expect((await service.query(known, '{ me { id } }')).error).toBeNull()
    const { token } = await createToken(service, known)
    service.statements.length = 0
    const credentials = [
      [],
      [`Authorization: Bearer ${token}`],
      ['Authorization: Bearer nonsense', 'X-Token-Subject: not a uuid'],
      [`X-Token-Subject: ${subject}`, `X-User-Id: ${subject}`, `X-Tenant-Id: ${subject}`],
    ]
    const routes = gatedRoutes(service)
    expect(routes.length).toBeGreaterThan(3)
    for (const { method, path } of routes)
      for (const type of ['application/json', 'text/xml'])
        for (const lines of credentials) {
          const connection = await openRaw(service.url)
          // The body is announced but never sent: a service that waited for it would not respond.
          const announced = ['Content-Length: 3000000', `Content-Type: ${type}`, 'X-Proxy-Auth: wrong']
          const head = [`${method} ${path} HTTP/1.1`, 'Host: x', ...announced, ...lines]
          connection.send(`${head.join('\r\n')}\r\n\r\n`)
          const [answer] = await connection.completeResponses(1)
          connection.socket.destroy()
          expect([path, answer && statusOf(answer)]).toEqual([path, 401])
          expect(JSON.parse(String(answer?.body))).toMatchObject({
            error: expect.stringMatching(texts.secret),
          })
        }
    expect(service.statements).toEqual([])
  })

  test('[gate.before-credential] a body that came whole is not judged either', async () => {
    for (const [type, body] of [
      ['application/json', '{not json'],
      ['text/xml', '<a/>'],
      ['application/json', '{"query":"{ me { id } }"}'],
    ] as const) {
      const answer = await rawCall(service.url, {
        method: 'POST',
        path: '/query',
        headers: [['content-type', type]],
        body,
      })
      expect([answer.status, JSON.parse(answer.body)]).toMatchObject([
        401,
        { error: expect.stringMatching(texts.secret) },
      ])
    }
  })

  test('[gate.default-closed] odd spellings of a path find no way around the gate', async () => {
    const paths = [
      '//query',
      '/query/',
      '/QUERY',
      '/%71uery',
      '/./query',
      '/x/../query',
      '/query;a=b',
      '/query%00',
      '/nowhere',
      '/api/proxy/ready',
    ]
    for (const path of [...paths, `${service.url}/query`]) {
      const answer = await rawCall(service.url, {
        method: 'POST',
        path,
        headers: [['content-type', 'application/json']],
        body: '{"query":"{ me { id } }"}',
      })
      expect([path, answer.status]).toEqual([path, 401])
      expect((JSON.parse(answer.body) as { error: string }).error).toMatch(texts.secret)
    }
  })

  test('an address that cannot be decoded is refused in JSON', async () => {
    const answer = await rawCall(service.url, { path: '/%zz' })
    expect([answer.status, Object.keys(JSON.parse(answer.body) as object)]).toEqual([
      400,
      ['error', 'code', 'request_id'],
    ])
  })

  test('[gate.counted-not-logged] a refusal raises the metric under its reason and writes no log line', async () => {
    const count = async (reason: string): Promise<number> => {
      const metric = await service.world.metrics.gateRejections.get()
      return metric.values.find((value) => value.labels.reason === reason)?.value ?? 0
    }
    const [route] = gatedRoutes(service)
    const cases: [string, [string, string][]][] = [
      ['secret', [['X-Proxy-Auth', 'wrong']]],
      ['no_identity', [secret]],
      ['identity', [secret, ['X-Token-Subject', 'nobody']]],
    ]
    for (const [reason, headers] of cases) {
      const before = { metric: await count(reason), lines: service.logLines.length }
      await refusal(service, route as { method: string; path: string }, headers)
      expect(await count(reason)).toBe(before.metric + 1)
      expect(service.logLines.length).toBe(before.lines)
    }
    await service.query({ id: subject }, '{ me { id } }')
    expect(service.logLines.at(-1)).toMatchObject({ route: '/query', actor: subject, status: '200' })
  })

  test('[gate.rotation-pair] current and previous secret both open the gate; a removed one does not', async () => {
    const rolled = await startTestApp({
      env: { SVC_PROXY_SECRET: 'the-new-secret', SVC_PROXY_SECRET_PREVIOUS: proxySecret },
      database: service.database,
    })
    const done = await startTestApp({
      env: { SVC_PROXY_SECRET: 'the-new-secret' },
      database: service.database,
    })
    const ask = (app: TestApp, value: string) =>
      fetch(`${app.url}/query`, {
        method: 'POST',
        headers: { ...headersOf({ id: subject }), 'x-proxy-auth': value, 'content-type': 'application/json' },
        body: '{"query":"{ me { id } }"}',
      }).then((response) => response.status)
    expect([
      await ask(rolled, 'the-new-secret'),
      await ask(rolled, proxySecret),
      await ask(rolled, 'x'),
    ]).toEqual([200, 200, 401])
    expect([await ask(done, 'the-new-secret'), await ask(done, proxySecret)]).toEqual([200, 401])
    await rolled.close()
    await done.close()
  })

  test('[gate.exempt-health] health answers without a secret, also when none is configured', async () => {
    for (const app of [service, withoutSecret]) expect((await fetch(`${app.url}/health`)).status).toBe(200)
  })

  test('[gate.exempt-machine] machine and gateway addresses never answer a gate text', async () => {
    for (const app of [service, withoutSecret])
      for (const path of ['/api/machine/check', '/api/machine/nothing', '/esb/x/y'])
        for (const headers of [[], [['X-Proxy-Auth', 'wrong']]] as [string, string][][]) {
          const answer = await rawCall(app.url, { path, headers })
          expect(answer.body).not.toMatch(/X-Proxy-Auth|proxy secret|authenticated user/)
        }
  })
})
