// Tests sockets without a service: reconnects and frames, with fake timers.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type OpenNotifications, type SocketState, connect, openNotifications } from '../src/index.ts'

class FakeSocket extends EventTarget {
  readonly sent: string[] = []
  isClosed = false
  send(text: string): void {
    this.sent.push(text)
  }
  close(): void {
    this.isClosed = true
  }
  frame(frame: unknown): void {
    const data = typeof frame === 'string' ? frame : JSON.stringify(frame)
    this.dispatchEvent(new MessageEvent('message', { data }))
  }
  end(code: number): void {
    this.dispatchEvent(Object.assign(new Event('close'), { code }))
  }
}
let sockets: FakeSocket[]
let addresses: string[]
let states: SocketState[]
let live: unknown[]
let notifications: OpenNotifications
const last = (): FakeSocket => sockets.at(-1) as FakeSocket
const greet = (changes: object = {}): void =>
  last().frame({
    type: 'hello',
    connection_id: 'c',
    unread: false,
    ping_interval: 25,
    reconnect_jitter_ms: 1_000,
    ...changes,
  })

beforeEach(async () => {
  vi.useFakeTimers()
  ;[sockets, addresses, states, live] = [[], [], [], []]
  notifications = openNotifications(connect({ url: 'https://shop.example', token: 'secret' }), {
    path: '/comms',
    onState: (state) => states.push(state),
    onLive: (one) => live.push(one),
    openSocket: (url) => {
      addresses.push(url)
      sockets.push(new FakeSocket())
      return last() as unknown as WebSocket
    },
  })
  await vi.advanceTimersByTimeAsync(0)
})
afterEach(() => {
  notifications.close()
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

const drawn = (part: number): void => void vi.spyOn(Math, 'random').mockReturnValue(part)
/** Closes the socket and expects the next one after exactly this delay. */
async function expectReturnAfter(code: number, waitMs: number): Promise<void> {
  const before = sockets.length
  last().end(code)
  await vi.advanceTimersByTimeAsync(waitMs - 1)
  expect([code, sockets.length]).toEqual([code, before])
  await vi.advanceTimersByTimeAsync(1)
  expect([code, sockets.length]).toEqual([code, before + 1])
}

test('the address is that of the inbox, by websocket, without the token', () => {
  expect(addresses).toEqual(['wss://shop.example/comms/ws'])
})

test.each(['comms', '@evil.example', '//evil.example', '/a/..'])(
  'an address that leads elsewhere is refused: %s',
  (path) => {
    const openSocket = vi.fn<() => WebSocket>()
    const manager = connect({ url: 'https://shop.example', token: 'secret' })
    expect(() => openNotifications(manager, { path, openSocket })).toThrow('path must start with one slash')
    expect(openSocket).not.toHaveBeenCalled()
  },
)

describe('a hello with times that cannot be meant', () => {
  test.each([
    [undefined, 25],
    [null, 25],
    ['10', 25],
    [0, 25],
    [-1, 25],
    [1e12, 300],
  ])('has ping_interval %j: %d s are used', async (ping_interval, seconds) => {
    greet({ ping_interval })
    await vi.advanceTimersByTimeAsync(2_000 * seconds - 1)
    expect(sockets.map(({ isClosed }) => isClosed)).toEqual([false])
    await vi.advanceTimersByTimeAsync(1)
    expect(sockets[0]?.isClosed).toBe(true)
  })

  test.each([
    [undefined, 1_000],
    [null, 1_000],
    ['10', 1_000],
    [-1, 1_000],
    [1e12, 300_000],
  ])('has reconnect_jitter_ms %j: %d ms are used', async (reconnect_jitter_ms, jitterMs) => {
    greet({ reconnect_jitter_ms })
    drawn(0.5)
    await expectReturnAfter(4000, jitterMs / 2)
  })
})

describe('a socket that ends', () => {
  test.each([4000, 4001, 4002, 1006, 1001, 1011])(
    'with %i is opened again after a random part of reconnect_jitter_ms',
    async (code) => {
      for (const part of [0.25, 0.999]) {
        greet({ reconnect_jitter_ms: 8_000 })
        drawn(part)
        await expectReturnAfter(code, 8_000 * part)
      }
    },
  )

  test.each([4500, 4501, 4502])('with %i is not opened again', async (code) => {
    greet()
    last().end(code)
    await vi.advanceTimersByTimeAsync(3_600_000)
    expect(sockets).toHaveLength(1)
    expect(states.at(-1)).toEqual({ status: 'ended', code })
  })

  test('again and again is waited for longer, up to 30 s, and anew after a hello', async () => {
    drawn(0.5)
    const waits = [500, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000]
    for (const waitMs of waits) await expectReturnAfter(1006, waitMs)
    greet()
    await expectReturnAfter(1006, 500)
  })

  test('while it is closed by us changes nothing', () => {
    greet()
    const socket = last()
    notifications.close()
    expect(socket.isClosed).toBe(true)
    socket.end(1006)
    socket.frame({ type: 'live', topic: 'late' })
    expect([states.at(-1), live]).toEqual([{ status: 'ended', code: 1000 }, []])
  })
})

describe('a socket that is silent', () => {
  test('for two intervals is given up; every frame begins them anew', async () => {
    greet({ ping_interval: 10 })
    drawn(0.5)
    await vi.advanceTimersByTimeAsync(19_999)
    const first = last()
    first.frame({ type: 'ping' })
    await vi.advanceTimersByTimeAsync(19_999)
    expect(first.isClosed).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect([first.isClosed, states.at(-1)]).toEqual([true, { status: 'waiting', code: 1006 }])
    await vi.advanceTimersByTimeAsync(500)
    expect(sockets).toHaveLength(2)
    first.end(4500)
    expect(states.at(-1)).toEqual({ status: 'connecting' })
  })

  test('from its start is given up after 30 s', async () => {
    await vi.advanceTimersByTimeAsync(29_999)
    expect(last().isClosed).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(last().isClosed).toBe(true)
  })
})

describe('frames', () => {
  test('ping is answered with pong, and nothing else is sent', () => {
    greet()
    last().frame({ type: 'ping' })
    last().frame({ type: 'live', topic: 'prices', data: [1], published_at: 'now' })
    expect(last().sent).toEqual(['{"type":"pong"}'])
    expect(live).toEqual([{ topic: 'prices', data: [1], publishedAt: 'now' }])
  })

  test.each(['{"type":"later.version"}', '{"a":1}', 'null', '[]', 'text', '', '7'])(
    'that are not known are passed over: %s',
    (frame) => {
      greet()
      const count = states.length
      last().frame(frame)
      expect([states.length, last().sent, last().isClosed]).toEqual([count, [], false])
    },
  )
})
