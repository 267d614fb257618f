// These tests check that sockets are closed with a specific code if their client violates the protocol, is
// silent, or does not read. Other clients must not be affected.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import { testEnv } from '@manager/harness/test-env.ts'
import { liveHint, publishFromOtherProcess } from '../../../test/kit/hints.ts'
import { runUntilExit } from '@manager/harness/process.ts'
import { useProject } from '../../../test/kit/project.ts'
import {
  clientFrame,
  closeCodeOf,
  opcodes,
  openRawSocket,
  serverFrames,
} from '../../../test/kit/raw-frames.ts'
import type { RawSocket } from '../../../test/kit/raw-socket.ts'
import { type Seat, type TestSocket, openSocket } from '../../../test/kit/sockets.ts'

const { service, project, admin } = useProject()
const seat = (): Seat => ({
  userId: admin.id,
  tenantId: project.tenantId,
  applicationId: project.applicationId,
})
const open = (app = service): Promise<RawSocket> => openRawSocket(app.url, seat())
const text = (payload: string | Buffer): Buffer => clientFrame(opcodes.text, payload)
const pong = text('{"type":"pong"}')
const metric = async (app: TestApp, line: RegExp): Promise<number> => {
  const found = line.exec(await app.world.metrics.registry.metrics())
  return Number(found?.[1] ?? Number.NaN)
}

describe('a client that', () => {
  const tooLong = 'x'.repeat(4_097)
  const cases: [string, Buffer][] = [
    ['sends a text that is no JSON', text('pong')],
    ['sends JSON that is no pong', text('{"type":"hello"}')],
    ['sends JSON that is no object', text('null')],
    ['sends an empty text', text('')],
    ['sends bytes', clientFrame(opcodes.binary, '{"type":"pong"}')],
    ['sends a text that is no UTF-8', text(Buffer.from([0x22, 0xff, 0xfe, 0x22]))],
    ['sends more than 4 KiB', text(tooLong)],
    ['announces 10 MiB', clientFrame(opcodes.text, 'x', { length: 10 * 1_048_576 })],
    ['announces more than a number can say', clientFrame(opcodes.text, 'x', { length: 2 ** 53 - 1 })],
    [
      'sends more than 4 KiB in fragments',
      Buffer.concat([
        clientFrame(opcodes.text, 'x'.repeat(4_000), { isLast: false }),
        clientFrame(opcodes.more, 'x'.repeat(97)),
      ]),
    ],
    [
      'sends one text in many fragments',
      Buffer.concat([
        clientFrame(opcodes.text, '', { isLast: false }),
        ...Array.from({ length: 20_000 }, () => clientFrame(opcodes.more, '', { isLast: false })),
      ]),
    ],
    ['does not mask', clientFrame(opcodes.text, '{"type":"pong"}', { isMasked: false })],
    ['sets reserved bits', clientFrame(opcodes.text, '{"type":"pong"}', { reserved: 4 })],
    ['uses an opcode that does not exist', clientFrame(11, 'x')],
    ['continues what did not begin', clientFrame(opcodes.more, 'x')],
    ['sends a ping that is too long', clientFrame(opcodes.ping, 'x'.repeat(126))],
    [
      'sends pings without end',
      Buffer.concat(Array.from({ length: 5_000 }, () => clientFrame(opcodes.ping, 'x'))),
    ],
    ['sends pongs without end', Buffer.concat(Array.from({ length: 5_000 }, () => pong))],
    [
      'sends empty pong frames without end',
      Buffer.concat(Array.from({ length: 50 }, () => clientFrame(opcodes.pong))),
    ],
  ]
  test.each(cases)('%s is closed with 4502 [websocket.close-protocol]', async (_what, bytes) => {
    const raw = await open()
    raw.send(bytes)
    await raw.waitUntil(() => closeCodeOf(raw) !== null)
    expect(closeCodeOf(raw)).toBe(4502)
    raw.socket.destroy()
  })

  test('sends a pong now and then, even unasked, or a ping, stays', async () => {
    const raw = await open()
    raw.send(pong)
    raw.send(text(' { "type" : "pong" } '))
    raw.send(
      Buffer.concat([
        clientFrame(opcodes.text, '{"type":', { isLast: false }),
        clientFrame(opcodes.more, '"pong"}'),
      ]),
    )
    for (const byte of clientFrame(opcodes.ping, 'still here')) raw.send(Buffer.from([byte]))
    await raw.waitUntil(() => raw.received().includes('still here'))
    expect(serverFrames(raw.received()).at(-1)).toMatchObject({ opcode: opcodes.pong })
    expect(closeCodeOf(raw)).toBeNull()
    raw.send(clientFrame(opcodes.close, Buffer.from([3, 232])))
    await raw.waitUntil(() => raw.ended() !== null)
    expect(closeCodeOf(raw)).toBe(1000)
  })

  test('is gone without a word leaves nothing behind', async () => {
    const raw = await open()
    await expect.poll(() => metric(service, /^svc_ws_connections (\d+)$/m)).toBeGreaterThan(0)
    raw.socket.resetAndDestroy()
    await expect.poll(() => metric(service, /^svc_ws_connections (\d+)$/m), { timeout: 30_000 }).toBe(0)
  })
})

// Each test waits for a timer of the service, so they run concurrently.
describe.concurrent('with a short ping interval', () => {
  let app: TestApp
  let shortLived: TestApp
  beforeAll(async () => {
    const env = { SVC_COMMS_PING_INTERVAL: '1s', SVC_COMMS_PONG_TIMEOUT: '800ms' }
    const { database } = service
    app = await startTestApp({ env, database })
    shortLived = await startTestApp({ env: { ...env, SVC_COMMS_SOCKET_MAX_AGE: '2s' }, database })
  })
  afterAll(async () => {
    await app.close()
    await shortLived.close()
  })

  test('pings come again and again, and who answers stays [websocket.ping]', async ({ expect }) => {
    const socket = openSocket(app.url, seat())
    expect(await socket.hello).toMatchObject({ ping_interval: 1 })
    const pings = () => socket.frames.filter(({ type }) => type === 'ping')
    await expect.poll(() => pings().length, { timeout: 30_000 }).toBeGreaterThan(2)
    expect(pings()[0]).toEqual({ type: 'ping' })
    expect(socket.client.readyState).toBe(1)
    socket.client.close()
  })

  test('who does not answer is closed with 4002 [websocket.ping]', async () => {
    const socket = openSocket(app.url, seat(), { answersPings: false })
    await socket.hello
    expect(await socket.closed).toBe(4002)
    expect(socket.frames.filter(({ type }) => type === 'ping')).toHaveLength(1)
  })

  test('a socket that is old is closed with 4000, and its client opens another one', async () => {
    expect(await openSocket(shortLived.url, seat()).closed).toBe(4000)
  })

  test('does not answer the close is cut off', async () => {
    const raw = await open(app)
    raw.send(text('nonsense'))
    await raw.waitUntil(() => raw.ended() !== null)
    expect([raw.ended(), closeCodeOf(raw)]).toEqual(['end', 4502])
  })
})

test('a pong timeout that does not fit the interval stops the start', async () => {
  const { code, stderr } = await runUntilExit(
    testEnv(service.database.url, { SVC_COMMS_PING_INTERVAL: '5s' }),
  )
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining('comms.pong_timeout must be at most nine tenths of comms.ping_interval'),
  ])
})

describe('a client that does not read', () => {
  const large = 'x'.repeat(15_000)
  // The number stays below the limit for a client that reads.
  const perRound = 40
  /** Sends hints until the socket exceeds its limit. */
  const fill = async (raw: RawSocket, reader: TestSocket): Promise<number> => {
    raw.socket.pause()
    let sent = 0
    while ((await metric(service, /^svc_ws_dropped_total\{reason="slow"\} (\d+)$/m)) === 0) {
      const before = reader.framesWithoutPings().length
      for (let i = 0; i < perRound; i++, sent++) publishFromOtherProcess(service, liveHint(project, large))
      await expect.poll(() => reader.framesWithoutPings().length, { interval: 5 }).toBe(before + perRound)
    }
    return sent
  }

  test('misses live hints, then is closed with 4001; others miss nothing [websocket.close-slow]', async () => {
    const reader = openSocket(service.url, seat())
    await reader.hello
    const raw = await open()
    await fill(raw, reader)
    const closed = () => metric(service, /^svc_ws_closed_total\{code="4001"\} (\d+)$/m)
    // The service closes a socket only after it has been over the limit for several seconds.
    await expect.poll(closed, { timeout: 30_000 }).toBe(1)
    expect(reader.client.readyState).toBe(1)

    const other = await open()
    other.socket.pause()
    const notification = { ...liveHint(project, large), mayDrop: false }
    while ((await closed()) === 1) {
      const before = reader.framesWithoutPings().length
      for (let i = 0; i < perRound; i++) publishFromOtherProcess(service, notification)
      await expect.poll(() => reader.framesWithoutPings().length, { interval: 5 }).toBe(before + perRound)
    }
    expect(reader.client.readyState).toBe(1)
    await expect.poll(() => metric(service, /^svc_ws_connections (\d+)$/m), { timeout: 30_000 }).toBe(1)
    for (const { socket } of [raw, other]) socket.destroy()
    reader.client.close()
  })
})
