// These tests cover the WebSocket handshake. Until a handshake is accepted, it can be rejected like any other request.
import { describe, expect, test } from 'vitest'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import { proxySecret } from '@manager/harness/callers.ts'
import { useProject } from '../../../test/kit/project.ts'
import { closeCodeOf, clientFrame, handshake, opcodes } from '../../../test/kit/raw-frames.ts'
import { openRaw } from '../../../test/kit/raw-socket.ts'
import {
  type Seat,
  openSocket,
  refusedHandshake,
  seatHeaders,
  socketPath,
} from '../../../test/kit/sockets.ts'
import { type Message, statusOf } from '@manager/harness/http-messages.ts'

const { service, project, admin } = useProject()
const seat = (): Seat => ({
  userId: admin.id,
  tenantId: project.tenantId,
  applicationId: project.applicationId,
})
/** Returns the response to a handshake with these headers changed; null removes a header. */
const answered = async (changed: Record<string, string | null>, method?: string): Promise<Message> => {
  const raw = await openRaw(service.url)
  raw.send(handshake(seat(), changed, method))
  await raw.waitUntil(() => raw.received().includes('\r\n\r\n'))
  const [answer] = raw.received().includes(' 101 ')
    ? raw.responses({ type: 'responses' })
    : await raw.completeResponses(1)
  const text = raw.received().toString('latin1')
  raw.socket.destroy()
  return answer ?? ({ start: text.split('\r\n')[0] } as unknown as Message)
}
const opensWith = async (changed: Record<string, string | null>): Promise<number> => {
  const raw = await openRaw(service.url)
  raw.send(handshake(seat(), changed))
  await raw.waitUntil(() => raw.received().includes('\r\n\r\n'))
  const [, status] = /^HTTP\/1\.1 (\d+)/.exec(raw.received().toString('latin1')) ?? []
  raw.socket.destroy()
  return Number(status)
}
const statusFor = async (headers: Record<string, string>) => {
  const answer = await refusedHandshake(service.url, socketPath(project.applicationId), headers)
  return answer === 'opened' ? 101 : answer.status
}

const healthRequest = 'GET /health HTTP/1.1\r\nhost: x\r\n\r\n'

describe('a handshake', () => {
  test('without the secret, or without user and tenant, is answered 401 and the connection ends', async () => {
    const { 'x-proxy-auth': secret, 'x-user-id': user, 'x-tenant-id': tenant } = seatHeaders(seat())
    const all = { 'x-proxy-auth': secret, 'x-user-id': user, 'x-tenant-id': tenant } as Record<string, string>
    for (const [name, value] of [
      ['x-proxy-auth', null],
      ['x-proxy-auth', 'wrong'],
      ['x-user-id', null],
      ['x-user-id', 'nobody'],
      ['x-tenant-id', null],
      ['x-tenant-id', `${project.tenantId}, ${project.tenantId}`],
    ] as const) {
      const { [name]: _, ...rest } = all
      const answer = await refusedHandshake(
        service.url,
        socketPath(project.applicationId),
        value === null ? rest : { ...all, [name]: value },
      )
      if (answer === 'opened') throw new Error(`${name} ${value} opened a socket`)
      expect([name, value, answer.status]).toEqual([name, value, 401])
      expect(JSON.parse(answer.body)).toMatchObject({ error: expect.any(String), code: 'unauthenticated' })
      expect(answer.headers).toMatchObject({ connection: 'close', 'x-request-id': expect.any(String) })
    }
    expect(await statusFor(all)).toBe(101)
  })

  test('with an Origin needs that of the forwarded host, or else of Host; without one it needs none', async () => {
    const matrix: [number, Record<string, string | null>][] = [
      [101, {}],
      [101, { origin: 'https://manager.example' }],
      [101, { origin: 'HTTP://Manager.Example' }],
      [101, { origin: 'https://manager.example:443' }],
      [101, { origin: 'https://manager.example', host: 'manager.example:443' }],
      [101, { origin: 'https://app.example', 'x-forwarded-host': 'app.example' }],
      [101, { origin: 'https://app.example:8443', 'x-forwarded-host': 'APP.example:8443' }],
      [101, { origin: 'http://[::1]:8080', 'x-forwarded-host': '[::1]:8080' }],
      [403, { origin: 'https://evil.example' }],
      [403, { origin: 'null' }],
      [403, { origin: '' }],
      [403, { origin: 'https://manager.example:8443' }],
      [403, { origin: 'https://manager.example.evil.example' }],
      [403, { origin: 'https://evil.example/manager.example' }],
      [403, { origin: 'https://manager.example@evil.example' }],
      [403, { origin: 'https://evil.example\\@manager.example' }],
      [403, { origin: 'file://manager.example' }],
      [403, { origin: 'https://manager.example https://evil.example' }],
      // X-Forwarded-Host is the host that users see. If the proxy sends X-Forwarded-Host, Host is ignored.
      [403, { origin: 'https://manager.example', 'x-forwarded-host': 'app.example' }],
      [403, { origin: 'https://evil.example', 'x-forwarded-host': 'app.example, evil.example' }],
      [403, { origin: 'https://evil.example', 'x-forwarded-host': 'app.example@evil.example' }],
      [
        403,
        { origin: 'https://app.example', 'x-forwarded-host': 'app.example\r\nX-Forwarded-Host: app.example' },
      ],
      [
        403,
        { origin: 'https://app.example\r\nOrigin: https://evil.example', 'x-forwarded-host': 'app.example' },
      ],
    ]
    for (const [status, headers] of matrix)
      expect([headers, await opensWith(headers)]).toEqual([headers, status])
  })

  test('that is none is answered 400 with what is needed', async () => {
    const cases: [Record<string, string | null>, RegExp][] = [
      [{ upgrade: null, connection: 'keep-alive' }, /not a websocket handshake/],
      [{ upgrade: 'h2c', connection: 'Upgrade, HTTP2-Settings' }, /not a websocket handshake/],
      [{ connection: 'keep-alive' }, /not a websocket handshake/],
      [{ 'content-length': '0' }, /without a body/],
      [{ 'sec-websocket-version': '8' }, /Version must be 13/],
      [{ 'sec-websocket-version': null }, /Version must be 13/],
      [{ 'sec-websocket-key': null }, /Sec-WebSocket-Key/],
      [{ 'sec-websocket-key': 'short' }, /Sec-WebSocket-Key/],
    ]
    for (const [changed, text] of cases) {
      const answer = await answered(changed)
      expect([changed, statusOf(answer)]).toEqual([changed, 400])
      expect(JSON.parse(answer.body.toString())).toMatchObject({ error: expect.stringMatching(text) })
    }
    const plain = await fetch(`${service.url}${socketPath(project.applicationId)}`, {
      headers: seatHeaders(seat()),
    })
    expect(plain.status).toBe(400)
    expect(statusOf(await answered({ 'content-length': '0' }, 'POST'))).toBe(404)
  })

  test('to another address is answered as if it asked for nothing', async () => {
    const headers = { 'x-proxy-auth': proxySecret }
    for (const path of ['/api/nothing', '/api/proxy/comms/x/ws/more', '/query'])
      expect(await refusedHandshake(service.url, path, headers)).toMatchObject({ status: 404 })
    expect(await refusedHandshake(service.url, '/api/machine/nothing', {})).toMatchObject({ status: 401 })
  })

  test('asks for no subprotocol and gets none', async () => {
    const raw = await openRaw(service.url)
    raw.send(
      handshake(seat(), {
        'sec-websocket-protocol': 'a b, ;;',
        'sec-websocket-extensions': 'permessage-deflate',
      }),
    )
    await raw.waitUntil(() => raw.received().includes('"hello"'))
    const head = raw.received().toString('latin1').split('\r\n\r\n')[0] as string
    expect(head).toContain('Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=')
    expect(head.toLowerCase()).not.toContain('sec-websocket-protocol')
    expect(head.toLowerCase()).not.toContain('sec-websocket-extensions')
    raw.socket.destroy()
  })

  test('may be followed at once by frames, which are read', async () => {
    const raw = await openRaw(service.url)
    raw.send(Buffer.concat([Buffer.from(handshake(seat())), clientFrame(opcodes.ping, 'early')]))
    await raw.waitUntil(() => raw.received().includes('"hello"') && raw.received().includes('early'))
    raw.send(clientFrame(opcodes.text, 'nonsense'))
    await raw.waitUntil(() => closeCodeOf(raw) !== null)
    expect(closeCodeOf(raw)).toBe(4502)
  })

  test('that follows an unanswered request on its connection is answered 400 in its turn', async () => {
    const raw = await openRaw(service.url)
    raw.send(`${healthRequest}${handshake(seat())}`)
    const [first, second] = await raw.completeResponses(2)
    expect([first, second].map((one) => statusOf(one as Message))).toEqual([200, 400])
    raw.socket.destroy()
  })

  test('after an answered request on its connection opens a socket', async () => {
    const raw = await openRaw(service.url)
    raw.send(healthRequest)
    await raw.completeResponses(1)
    raw.send(handshake(seat()))
    await raw.waitUntil(() => raw.received().includes('"hello"'))
    expect(raw.received().toString()).toContain('"hello"')
    raw.socket.destroy()
  })

  test('is read to its end only if it comes in time, and its headers are bounded', async () => {
    const raw = await openRaw(service.url)
    raw.send(handshake(seat(), { 'x-more': 'x'.repeat(20_000) }))
    const [answer] = await raw.completeResponses(1)
    expect(statusOf(answer as Message)).toBe(431)
  })
})

describe('limits', () => {
  const withApp = async (
    env: Record<string, string>,
    use: (app: TestApp) => Promise<void>,
  ): Promise<void> => {
    const app = await startTestApp({ env, database: service.database })
    await use(app)
    await app.close()
  }

  test('a process without role comms has no websocket: 404', () =>
    withApp({ SVC_ROLES: 'api,gateway,jobs' }, async ({ url }) => {
      const answer = await refusedHandshake(url, socketPath(project.applicationId), seatHeaders(seat()))
      expect(answer).toMatchObject({ status: 404 })
    }))

  test('one project has four fifths of the sockets of a process; more are answered 503 with Retry-After', () =>
    withApp({ SVC_COMMS_MAX_SOCKETS: '3' }, async (app) => {
      const sockets = [openSocket(app.url, seat()), openSocket(app.url, seat())]
      await Promise.all(sockets.map(({ hello }) => hello))
      const path = socketPath(project.applicationId)
      const refused = await refusedHandshake(app.url, path, seatHeaders(seat()))
      expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '1', connection: 'close' } })
      expect(await app.world.metrics.registry.metrics()).toMatch(/svc_ws_refused_total\{limit="project"\} 1/)
      sockets[0]?.client.close()
      await sockets[0]?.closed
      await expect.poll(() => refusedHandshake(app.url, path, seatHeaders(seat()))).toBe('opened')
    }))

  test('open sockets are no connections of the port: full of silent connections it closes none of them', () =>
    withApp({ SVC_MAX_CONNECTIONS: '16' }, async (app) => {
      const sockets = Array.from({ length: 8 }, () => openSocket(app.url, seat()))
      await Promise.all(sockets.map(({ hello }) => hello))
      const silent = await Promise.all(Array.from({ length: 40 }, () => openRaw(app.url)))
      await expect.poll(() => silent.filter((raw) => raw.ended() !== null).length).toBe(24)
      expect(sockets.map(({ client }) => client.readyState)).toEqual(sockets.map(() => 1))
      for (const { socket } of silent) socket.destroy()
      for (const { client } of sockets) client.close()
    }))

  test('when the server closes, sockets are closed with 4000 [websocket.close-shutdown]', () =>
    withApp({}, async (app) => {
      const sockets = Array.from({ length: 5 }, () => openSocket(app.url, seat()))
      await Promise.all(sockets.map(({ hello }) => hello))
      // A client that does not read or respond delays the shutdown only briefly.
      sockets[0]?.client.pause()
      const closed = app.app.server.close()
      expect(await Promise.all(sockets.slice(1).map(({ closed: code }) => code))).toEqual([
        4000, 4000, 4000, 4000,
      ])
      await closed
      sockets[0]?.client.resume()
      expect(await sockets[0]?.closed).toBe(4000)
    }))
})
