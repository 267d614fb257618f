// These tests cover which calls are forwarded to an endpoint, and the order and messages of rejections.
import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createMachine, throughProxy } from '@manager/harness/credentials.ts'
import {
  type GatewayResponse,
  type Gateway,
  type HeaderLine,
  responseTo,
  startGateway,
} from '../../../test/kit/gateway.ts'
import { freshClient } from '../../../test/kit/machines.ts'
import { uuid } from '../../../test/kit/members.ts'
import { seedProject } from '@manager/harness/seed.ts'

const maxBytes = 2_048
const notFound = 'Endpoint not found or not enabled'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway({ env: { SVC_ESB_MAX_REQUEST_BYTES: String(maxBytes) } })
})
afterAll(() => gateway.close())
beforeEach(() => gateway.upstream.reset())

/** Creates an endpoint that forwards calls to the upstream under its own path, so that the test can identify them. */
const endpointAt = (consumeURL: string, input: Record<string, unknown> = {}) =>
  gateway.endpoint({ consumeURL, url: `${gateway.upstream.url}${consumeURL}`, ...input })
const arrived = (): string[] => gateway.upstream.received.map(({ url }) => url)
const update = async (id: string, input: Record<string, unknown>): Promise<void> => {
  expect((await gateway.endpoints.update(gateway.admin, id, input)).error).toBeNull()
}
/** Returns the headers of a new client. */
const asClient = (client: string): HeaderLine[] => Object.entries(throughProxy(client))
const expectRefused = (answer: GatewayResponse, status: number, error: unknown): void => {
  expect([answer.status, answer.error]).toEqual([status, error])
}

describe('which endpoint is called', () => {
  test('[esb.route] the path after the application id selects the endpoint with exactly that consumeURL', async () => {
    const paths = [
      '/',
      '/a',
      '/a/',
      '/a/b',
      '/A',
      '/a.b',
      '/:a',
      '/*',
      '/a*',
      '/a;v=1',
      "/a,b:c@d!$&'()+=~_-",
    ]
    for (const path of paths) await endpointAt(path)
    for (const path of paths) {
      const { status } = await gateway.send(`/esb/${gateway.project.applicationId}${path}`)
      expect([path, status]).toEqual([path, 200])
    }
    expect(arrived()).toEqual(paths)
    // The application id can be in upper case, because only the rest of the path is case-sensitive.
    await gateway.send(`/esb/${gateway.project.applicationId.toUpperCase()}/a`)
    expect(arrived().at(-1)).toBe('/a')
  })

  test('[esb.route] a consumeURL as long as one may be is reached', async () => {
    const path = `/${'%41b'.repeat(124)}xyz`
    expect(path).toHaveLength(500)
    await endpointAt(path, { url: `${gateway.upstream.url}/long` })
    expect((await gateway.send(`/esb/${gateway.project.applicationId}${path}`)).status).toBe(200)
    expect(arrived()).toEqual(['/long'])
  })

  test('[esb.not-found] whatever matches nothing reads the same', async () => {
    const { id, path } = await endpointAt('/known')
    const application = gateway.project.applicationId
    for (const other of [
      `/esb/${application}`,
      `/esb/${application}/unknown`,
      `/esb/${application}/known/deeper`,
      `/esb/${application}/know`,
      `/esb/${application}?/known`,
      `/esb/${application}x/known`,
      `/esb/${randomUUID()}/known`,
      `/esb/${id}/known`,
      `/esb/not-a-uuid/known`,
      `/esb//known`,
      `/esb/`,
      `/esb/${application}/${'x'.repeat(2_000)}`,
    ])
      expectRefused(await gateway.send(other), 404, notFound)
    expectRefused(await gateway.send(`${path}#fragment`), 404, notFound)
    expect(arrived()).toEqual([])
  })

  test('[esb.not-found] a disabled endpoint is none until it is enabled again', async () => {
    const { id, path } = await endpointAt('/sleepy')
    for (const enabled of [false, true, false]) {
      await update(id, { enabled })
      const answer = await gateway.send(path)
      expect([enabled, answer.status]).toEqual([enabled, enabled ? 200 : 404])
      if (!enabled) expectRefused(answer, 404, notFound)
    }
    expect(arrived()).toEqual(['/sleepy'])
  })

  test('[esb.foreign-application] an application of another project, or another one of the same, has none of these endpoints', async () => {
    const { path } = await endpointAt('/mine')
    expect((await gateway.send(path)).status).toBe(200)
    const foreign = await seedProject(gateway.service.sql, 'foreign')
    const theirs = { url: `${gateway.upstream.url}/theirs`, name: 'theirs' }
    await gateway.endpoints.create(gateway.admin, foreign.applicationId, { ...theirs, consumeURL: '/mine' })
    expectRefused(await gateway.send(`/esb/${foreign.applicationId}/mine`), 404, notFound)
    const { data } = await gateway.service.query(
      gateway.admin,
      'mutation($id: ID!) { made: createApplication(projectId: $id, input: {name: "Second", slug: "second"}) { id } }',
      { id: gateway.project.id },
    )
    const second = data.made.id as string
    expectRefused(await gateway.send(`/esb/${second}/mine`), 404, notFound)
    // For a machine user of the other project, the results are reversed.
    const { token } = await createMachine(gateway.service, gateway.admin, foreign.environmentId)
    expectRefused(await gateway.send(path, { token }), 404, notFound)
    expect((await gateway.send(`/esb/${foreign.applicationId}/mine`, { token })).status).toBe(403)
    expect(arrived()).toEqual(['/mine'])
  })
})

describe('the path as it came', () => {
  test('[esb.raw-path] no other spelling of consumeURL matches', async () => {
    await endpointAt('/orders/new')
    for (const variant of [
      '/orders%2fnew',
      '/orders%2Fnew',
      '/orders//new',
      '//orders/new',
      '/orders/new/',
      '/orders/new//',
      '/orders/./new',
      '/./orders/new',
      '/orders/x/../new',
      '/orders/new/..',
      '/orders/new/.',
      '/orders/%2e/new',
      '/x/%2e%2e/orders/new',
      '/Orders/new',
      '/orders/NEW',
      '/orders/new;x',
      '/orders;/new',
      '/%6frders/new',
      '/orders/ne%77',
      '/orders/new%20',
      '/orders/new%00',
      '/orders/new%3f',
      '/orders/new%23',
      '/orders\\new',
      '/orders%5cnew',
    ]) {
      const answer = await gateway.send(`/esb/${gateway.project.applicationId}${variant}`)
      expect([variant, answer.status, answer.error]).toEqual([variant, 404, notFound])
    }
    for (const prefix of ['/%65sb/', '/esb%2f', '/esb/./', '/ESB/', '/esb/../esb/']) {
      const { status } = await gateway.send(`${prefix}${gateway.project.applicationId}/orders/new`)
      expect([prefix, [401, 404].includes(status)]).toEqual([prefix, true])
    }
    for (const broken of ['/orders/new%', '/orders/new%zz', '/orders/new%c3', '/orders/new\u00e4']) {
      const { status } = await gateway.send(`/esb/${gateway.project.applicationId}${broken}`)
      expect([broken, [400, 404].includes(status)]).toEqual([broken, true])
    }
    expect(arrived()).toEqual([])
  })

  test('[esb.raw-path] a consumeURL with an encoded character matches itself alone', async () => {
    await endpointAt('/a%2Fb%C3%A4')
    const at = async (path: string) =>
      (await gateway.send(`/esb/${gateway.project.applicationId}${path}`)).status
    expect(await at('/a%2Fb%C3%A4')).toBe(200)
    for (const variant of ['/a/b%C3%A4', '/a%2fb%C3%A4', '/a%252Fb%C3%A4', '/a%2Fb%c3%a4'])
      expect([variant, await at(variant)]).toEqual([variant, 404])
    expect(arrived()).toEqual(['/a%2Fb%C3%A4'])
  })

  test('[esb.target] the upstream sees the stored path and the query as they are written', async () => {
    const targets: [stored: string, query: string, sent: string][] = [
      ['/x/../y//z/./%2e%2E/a%2fb', '', '/x/../y//z/./%2e%2E/a%2fb'],
      ['', '', '/'],
      ['', '?a', '/?a'],
      ['/', '?', '/'],
      ['/t', '?a=1&a=2&b', '/t?a=1&a=2&b'],
      ['/t', '?a=%2F%20+&=&&?x?/../"<>|{}', '/t?a=%2F%20+&=&&?x?/../"<>|{}'],
      ['/t?k=v', '', '/t?k=v'],
      ['/t?k=v', '?', '/t?k=v'],
      ['/t?k=v', '?a=1', '/t?k=v&a=1'],
      ['?k=v', '?a=1', '/?k=v&a=1'],
      ['/t?', '?a=1', '/t?&a=1'],
    ]
    for (const [stored, query, sent] of targets) {
      const { path } = await gateway.endpoint({ url: `${gateway.upstream.url}${stored}` })
      expect((await gateway.send(`${path}${query}`)).status).toBe(200)
      expect([stored, query, arrived().at(-1)]).toEqual([stored, query, sent])
    }
    expect(arrived()).toHaveLength(targets.length)
  })
})

describe('who may call', () => {
  test('[esb.no-access] a missing and a disabled access row are alike, whoever else has one', async () => {
    const { id, accessId, path } = await endpointAt('/guarded')
    const other = await createMachine(gateway.service, gateway.admin, gateway.project.environmentId)
    const words = 'the machine user has no access to this endpoint'
    expectRefused(await gateway.send(path, { token: other.token }), 403, words)
    await gateway.access.allow(gateway.admin, { machineUserID: other.id, endpointID: id, enabled: false })
    expectRefused(await gateway.send(path, { token: other.token }), 403, words)
    expect((await gateway.send(path)).status).toBe(200)
    await gateway.access.change(gateway.admin, accessId, { enabled: false })
    expectRefused(await gateway.send(path), 403, words)
    await gateway.access.change(gateway.admin, accessId, { enabled: true })
    expect((await gateway.send(path)).status).toBe(200)
    await gateway.access.withdraw(gateway.admin, accessId)
    expectRefused(await gateway.send(path), 403, words)
    expect(arrived()).toEqual(['/guarded', '/guarded'])
  })

  test('[machine-auth.bearer] [machine-auth.wrong-scheme] [machine-auth.invalid-token] only a good Bearer token gets as far as an endpoint', async () => {
    const { path } = await endpointAt('/tokens')
    const send = (headers: HeaderLine[] = []) =>
      gateway.send(path, { token: null, headers: [...asClient(freshClient()), ...headers] })
    const format = 'Invalid authorization format. Expected: Bearer <token>'
    const unknown = randomBytes(32).toString('base64url')
    const { token } = gateway.machine
    expectRefused(await send(), 401, 'Missing Authorization header. Expected: Bearer <token>')
    expectRefused(await send([['Authorization', `Basic ${btoa(`a:${token}`)}`]]), 401, format)
    expectRefused(await send([['Authorization', token]]), 401, format)
    for (const repeat of [token, unknown]) {
      const lines = [token, repeat].map((one): HeaderLine => ['Authorization', `Bearer ${one}`])
      expectRefused(await send(lines), 401, format)
    }
    const refusal = 'Invalid token: it belongs to no enabled machine user'
    expectRefused(await send([['Authorization', `Bearer ${unknown}`]]), 401, refusal)
    expect(arrived()).toEqual([])
    expect((await send([['authorization', `bearer ${token}`]])).status).toBe(200)
  })
})

describe('refusals', () => {
  test('[esb.check-order] a call with everything wrong is told one thing after the other', async () => {
    const wrong = { body: `{${'x'.repeat(maxBytes)}` }
    const { id, accessId, path } = await endpointAt('/wrong', {
      enabled: false,
      url: null,
      inputMessageType: 'JSON',
      transformationTemplate: '{{.Meta.Timestamp.Nothing}}',
    })
    await gateway.access.change(gateway.admin, accessId, { enabled: false })
    const client = freshClient()
    const refused = { ...wrong, token: randomBytes(32).toString('base64url'), headers: asClient(client) }
    for (let failures = 0; failures < 10; failures++)
      expectRefused(await gateway.send(path, refused), 401, expect.stringMatching(/^Invalid token/))
    expectRefused(await gateway.send(path, refused), 429, 'too many failed authentication attempts')
    const steps: [(() => Promise<unknown>) | null, typeof wrong, number, RegExp][] = [
      [null, wrong, 404, /^Endpoint not found or not enabled$/],
      [() => update(id, { enabled: true }), wrong, 403, /no access/],
      [() => gateway.access.change(gateway.admin, accessId, { enabled: true }), wrong, 502, /no url/],
      // Nothing listens on this port, so forwarding would fail.
      [() => update(id, { url: 'http://127.0.0.1:1/' }), wrong, 413, /larger than 2048 bytes/],
      [null, { body: '{x' }, 400, /^the body is not JSON/],
      [null, { body: '{}' }, 500, /template of the endpoint failed; nothing was forwarded$/],
      [() => update(id, { transformationTemplate: 'ok' }), { body: '{}' }, 502, /refuses connections$/],
    ]
    for (const [mend, sent, status, text] of steps) {
      await mend?.()
      for (const isChunked of [false, true])
        // A blocked client with a valid token is still accepted.
        for (const headers of [[], asClient(client)]) {
          const answer = await gateway.send(path, { method: 'POST', ...sent, isChunked, headers })
          expectRefused(answer, status, expect.stringMatching(text))
        }
    }
    await update(id, { url: gateway.upstream.url })
    expect((await gateway.send(path, { method: 'POST', body: '{}' })).status).toBe(200)
    expect(arrived()).toHaveLength(1)
  })

  test('[esb.check-order] a body that passes as it comes is refused in the same place', async () => {
    const { id, accessId, path } = await endpointAt('/streamed', { enabled: false, url: null })
    await gateway.access.change(gateway.admin, accessId, { enabled: false })
    /** Sends a body without a content length, so that its size is unknown until it has been streamed. */
    const stream = (token = gateway.machine.token) => {
      const headers: HeaderLine[] = [['transfer-encoding', 'chunked']]
      const outgoing = gateway.open(path, { method: 'POST', headers, token })
      outgoing.on('error', () => undefined)
      outgoing.write('x'.repeat(maxBytes))
      outgoing.write('x')
      return responseTo(outgoing)
    }
    expectRefused(await stream(randomBytes(32).toString('base64url')), 401, expect.any(String))
    expectRefused(await stream(), 404, notFound)
    await update(id, { enabled: true })
    expectRefused(await stream(), 403, expect.stringMatching(/no access/))
    await gateway.access.change(gateway.admin, accessId, { enabled: true })
    expectRefused(await stream(), 502, expect.stringMatching(/no url/))
    await update(id, { url: `${gateway.upstream.url}/streamed` })
    expectRefused(await stream(), 413, expect.stringMatching(/larger than 2048 bytes/))
    // None of these requests counts as a forwarded call.
    expect(arrived()).toEqual([])
    expect((await gateway.send(path, { method: 'POST', body: 'x', isChunked: true })).status).toBe(200)
  })

  test('[esb.throttle-text] [machine-auth.throttle] ten failed credentials block the client, with the seconds to wait', async () => {
    const { path } = await endpointAt('/blocked')
    const headers = asClient(freshClient())
    const fail = (at: string) => gateway.send(at, { headers, token: randomBytes(32).toString('base64url') })
    for (let failures = 0; failures < 10; failures++) expect((await fail(path)).status).toBe(401)
    for (const at of [path, `${path}/unknown`, '/esb/x']) {
      const answer = await fail(at)
      expectRefused(answer, 429, 'too many failed authentication attempts')
      expect(answer.headers['retry-after']).toMatch(/^[1-9]\d?$/)
    }
    expect((await gateway.send(path, { headers })).status).toBe(200)
  })

  test('[esb.no-url] an endpoint without url answers 502 to every method', async () => {
    const { path } = await gateway.endpoint({ url: null })
    for (const method of ['GET', 'POST', 'DELETE', 'PROPFIND'])
      expectRefused(await gateway.send(path, { method }), 502, 'the endpoint has no url to forward to')
    const emptied = await endpointAt('/emptied', { url: '' })
    expectRefused(await gateway.send(emptied.path, { body: 'x' }), 502, expect.stringContaining('no url'))
  })

  test('[errors.shape-error] every refusal is JSON with the text as error, and is kept by nobody', async () => {
    const { path } = await endpointAt('/shapes', {
      url: 'http://127.0.0.1:1/',
      inputMessageType: 'JSON',
      transformationTemplate: '{{.Data.a.b}}',
    })
    const codes: [number, string, Promise<GatewayResponse>][] = [
      [401, 'unauthenticated', gateway.send(path, { token: null })],
      [404, 'not_found', gateway.send(`${path}x`)],
      [413, 'payload_too_large', gateway.send(path, { body: 'x'.repeat(maxBytes + 1) })],
      [400, 'bad_request', gateway.send(path, { body: '{' })],
      [500, 'template_failed', gateway.send(path, { body: '{"a":"text"}' })],
      [502, 'bad_gateway', gateway.send(path, { body: '{"a":{"b":1}}' })],
    ]
    for (const [status, code, sent] of codes) {
      const { headers, ...answer } = await sent
      expect([answer.status, JSON.parse(answer.text)]).toEqual([
        status,
        { error: answer.error, code, request_id: headers['x-request-id'] },
      ])
      expect(headers).toMatchObject({
        'x-request-id': uuid,
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'no-store',
      })
    }
    const head = await gateway.send(`${path}x`, { method: 'HEAD' })
    expect([head.status, head.text]).toEqual([404, ''])
  })
})
