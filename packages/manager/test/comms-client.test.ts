// Tests examples/comms-client.mjs without a service: when it reconnects, and how it merges pages, frames and
// marks into one list. The file comms-bell.browser.test.ts tests it with the real service in a browser.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { hello, idOf, startFakeClient } from './kit/comms-client.ts'

let fake: ReturnType<typeof startFakeClient>
beforeEach(() => {
  vi.useFakeTimers()
  fake = startFakeClient()
})
afterEach(() => {
  fake.client.close()
  vi.useRealTimers()
})

/** Delivers the hello frame on the latest socket and lets the client load its data. */
async function greet(changes: object = {}): Promise<void> {
  fake.socket().frame(hello(changes))
  await fake.settle()
}
/** Closes the socket and expects the next one to open after exactly this time. */
async function expectReturnAfter(code: number, waitMs: number): Promise<void> {
  const { sockets } = fake
  const before = sockets.length
  fake.socket().end(code)
  await vi.advanceTimersByTimeAsync(waitMs - 1)
  expect([code, sockets.length]).toEqual([code, before])
  await vi.advanceTimersByTimeAsync(1)
  expect([code, sockets.length]).toEqual([code, before + 1])
}
const mockRandom = (part: number): void => void vi.spyOn(Math, 'random').mockReturnValue(part)

describe('a socket that ends', () => {
  test.each([4000, 4001, 4002, 1006, 1001, 1011])(
    'with %i is opened again after a random part of reconnect_jitter_ms',
    async (code) => {
      for (const part of [0.25, 0.5, 0.999]) {
        await greet({ reconnect_jitter_ms: 8_000 })
        mockRandom(part)
        await expectReturnAfter(code, 8_000 * part)
      }
      expect(fake.state()).toMatchObject({ connected: false, ended: null })
    },
  )

  test('may be opened again at once, when the random part is none', async () => {
    await greet()
    mockRandom(0)
    fake.socket().end(4000)
    await vi.advanceTimersByTimeAsync(1)
    expect(fake.sockets).toHaveLength(2)
  })

  test.each([4500, 4501, 4502])('with %i is not opened again, and the page is told why', async (code) => {
    await greet()
    expect(fake.state()).toMatchObject({ connected: true, ended: null })
    fake.socket().end(code)
    expect(fake.state()).toMatchObject({ connected: false, ended: code })
    await vi.advanceTimersByTimeAsync(3_600_000)
    expect(fake.sockets).toHaveLength(1)
    expect(vi.getTimerCount()).toBe(0)
  })

  test.each([
    [2_000, [1_000, 1_000, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000]],
    [0, [250, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000]],
  ])(
    'again and again is waited for longer, up to 30 s, and anew after a hello, with a jitter of %i ms',
    async (jitterMs, waits) => {
      await greet({ reconnect_jitter_ms: jitterMs })
      mockRandom(0.5)
      for (const waitMs of waits) await expectReturnAfter(1006, waitMs)
      await greet({ reconnect_jitter_ms: jitterMs })
      await expectReturnAfter(1006, waits[0] as number)
    },
  )

  test('is not opened sooner than the service asks, when it asks for more than 30 s', async () => {
    await greet({ reconnect_jitter_ms: 90_000 })
    mockRandom(0.5)
    for (const waitMs of [45_000, 45_000]) await expectReturnAfter(4000, waitMs)
  })

  test('before any hello is waited for a second at first', async () => {
    mockRandom(0.5)
    for (const waitMs of [500, 500, 1_000, 2_000]) await expectReturnAfter(1006, waitMs)
  })
})

describe('a socket that is silent', () => {
  test('for two intervals is given up; every frame begins them anew', async () => {
    await greet({ ping_interval: 10 })
    mockRandom(0.5)
    await vi.advanceTimersByTimeAsync(19_999)
    const first = fake.socket()
    first.frame({ type: 'ping' })
    await vi.advanceTimersByTimeAsync(19_999)
    expect([fake.sockets.length, first.isClosed]).toEqual([1, false])
    await vi.advanceTimersByTimeAsync(1)
    expect([first.isClosed, fake.state().connected]).toEqual([true, false])
    await vi.advanceTimersByTimeAsync(2_000)
    expect(fake.sockets).toHaveLength(2)
  })

  test('from its start is given up after 30 s', async () => {
    await vi.advanceTimersByTimeAsync(29_999)
    expect(fake.socket().isClosed).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(fake.socket().isClosed).toBe(true)
  })

  test('and was given up changes nothing any more, whatever it says', async () => {
    await greet({ ping_interval: 10 })
    const first = fake.socket()
    await vi.advanceTimersByTimeAsync(20_000)
    await vi.advanceTimersByTimeAsync(4_000)
    expect(fake.sockets).toHaveLength(2)
    first.frame(hello({ unread: true }))
    first.end(4500)
    await fake.settle()
    expect(fake.state()).toMatchObject({ connected: false, unread: false, ended: null })
    await greet()
    expect(fake.state().connected).toBe(true)
  })
})

describe('frames', () => {
  test('ping is answered with pong, and nothing else is ever sent', async () => {
    await greet()
    fake.socket().frame({ type: 'ping' })
    fake.socket().frame({ type: 'live', topic: 'prices', data: [1] })
    expect(fake.socket().sent).toEqual([{ type: 'pong' }])
  })

  test('live passes its topic and its data on', async () => {
    await greet()
    fake.socket().frame({ type: 'live', topic: 'prices', data: { eur: 2 }, published_at: 'now' })
    fake.socket().frame({ type: 'live', topic: null, data: null, published_at: 'now' })
    expect(fake.live).toEqual([
      ['prices', { eur: 2 }],
      [null, null],
    ])
  })

  test('of an unknown type are passed over', async () => {
    await greet()
    const count = fake.states.length
    fake.socket().frame({ type: 'later.version', ids: [1] })
    await fake.settle()
    expect([fake.states.length, fake.socket().isClosed]).toEqual([count, false])
  })

  test('the address of the socket is that of the routes, by ws', () => {
    expect(fake.socket().address).toBe('ws://store.example/comms/ws')
  })
})

describe('what is shown', () => {
  test('begins with what hello says, and then is the first page', async () => {
    fake.inbox.add(1, 2)
    fake.inbox.isHeld = true
    await greet({ unread: true })
    expect([fake.state().unread, fake.shown()]).toEqual([true, []])
    fake.inbox.release()
    await fake.settle()
    expect([fake.state().unread, fake.shown(), fake.state().hasMore]).toEqual([true, [2, 1], false])
  })

  test('has what came while it was away, once each and in order', async () => {
    fake.inbox.add(1, 2)
    await greet()
    fake.socket().end(4000)
    fake.inbox.add(3)
    await vi.advanceTimersByTimeAsync(4_000)
    expect(fake.shown()).toEqual([2, 1])
    await greet({ unread: true })
    expect(fake.shown()).toEqual([3, 2, 1])
  })

  test('has a notification soon after its frame, whole, as the inbox has it', async () => {
    await greet()
    fake.inbox.add(1)
    fake.socket().frame({ type: 'notification', id: idOf(1), title: 'number 1' })
    expect([fake.state().unread, fake.shown()]).toEqual([true, []])
    await vi.advanceTimersByTimeAsync(300)
    expect(fake.state().notifications).toEqual(fake.inbox.rows)
  })

  test('is read once for many frames that come together', async () => {
    await greet()
    fake.inbox.asked = []
    for (const number of [1, 2, 3]) {
      fake.inbox.add(number)
      fake.socket().frame({ type: 'notification', id: idOf(number) })
    }
    await vi.advanceTimersByTimeAsync(10_000)
    expect([fake.inbox.asked, fake.shown()]).toEqual([['/comms/notifications'], [3, 2, 1]])
  })

  test('keeps older pages below a new first page', async () => {
    fake.inbox.add(1, 2, 3, 4, 5)
    await greet()
    await fake.client.loadMore()
    expect([fake.shown(), fake.state().hasMore]).toEqual([[5, 4, 3, 2, 1], false])
    fake.inbox.add(6)
    await greet()
    expect([fake.shown(), fake.state().hasMore]).toEqual([[6, 5, 4, 3, 2, 1], false])
  })

  test('begins anew when more was missed than a page holds, and nothing is left out', async () => {
    fake.inbox.add(1, 2, 3, 4)
    await greet()
    await fake.client.loadMore()
    fake.inbox.add(5, 6, 7, 8)
    await greet()
    expect([fake.shown(), fake.state().hasMore]).toEqual([[8, 7, 6], true])
    await fake.client.loadMore()
    await fake.client.loadMore()
    await fake.client.loadMore()
    expect([fake.shown(), fake.state().hasMore]).toEqual([[8, 7, 6, 5, 4, 3, 2, 1], false])
  })

  test('loses what has expired', async () => {
    fake.inbox.add(1, 2, 3)
    await greet()
    fake.inbox.rows = fake.inbox.rows.filter(({ id }) => id !== idOf(2))
    await greet()
    expect(fake.shown()).toEqual([3, 1])
    fake.inbox.rows = []
    await greet()
    expect([fake.shown(), fake.state().unread]).toEqual([[], false])
  })

  test('loses older pages when the first one is all there is', async () => {
    fake.inbox.add(1, 2, 3, 4, 5)
    await greet()
    await fake.client.loadMore()
    fake.inbox.rows = fake.inbox.rows.slice(0, 2)
    await greet()
    expect([fake.shown(), fake.state().hasMore]).toEqual([[5, 4], false])
  })

  test('does not get an older page that was on its way when the list began anew', async () => {
    fake.inbox.add(1, 2, 3, 4)
    await greet()
    fake.inbox.isHeld = true
    const more = fake.client.loadMore()
    fake.inbox.isHeld = false
    fake.inbox.add(5, 6, 7, 8)
    await greet()
    fake.inbox.release()
    await more
    expect(fake.shown()).toEqual([8, 7, 6])
  })

  test('is read again until that succeeds, while the socket is held', async () => {
    fake.inbox.add(1)
    fake.inbox.status = 503
    await greet()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(fake.shown()).toEqual([])
    expect(fake.inbox.asked.length).toBeGreaterThan(2)
    fake.inbox.status = 200
    await vi.advanceTimersByTimeAsync(30_000)
    expect(fake.shown()).toEqual([1])
  })
})

test('nothing is asked any more after a final close', async () => {
  fake.inbox.status = 503
  await greet()
  fake.socket().end(4500)
  await vi.advanceTimersByTimeAsync(30_000)
  fake.inbox.asked = []
  await vi.advanceTimersByTimeAsync(300_000)
  expect(fake.inbox.asked).toEqual([])
})

describe('marks', () => {
  test('name the own connection, so that it is not told', async () => {
    fake.inbox.add(1, 2)
    await greet()
    expect(await fake.client.markSeen([idOf(2)])).toBe(1)
    expect(await fake.client.markRead([idOf(2)])).toBe(1)
    expect(await fake.client.markRead('all')).toBe(1)
    expect(fake.inbox.posted).toEqual([
      { ids: [idOf(2)], connection_id: 'connection-1' },
      { ids: [idOf(2)], connection_id: 'connection-1' },
      { all: true, connection_id: 'connection-1' },
    ])
    await fake.settle()
    const [second, first] = fake.state().notifications
    expect([second, first, fake.state().unread]).toMatchObject([
      { read: true, seen: true },
      { read: true, seen: false },
      false,
    ])
  })

  test.each([
    ['ids', { ids: [idOf(1)] }, [false, true]],
    ['all', { all: true }, [true, true]],
  ])('of another tab show here at once, by %s; what is read is seen', async (_, marked, read) => {
    fake.inbox.add(1, 2)
    await greet({ unread: true })
    fake.inbox.isHeld = true
    fake.socket().frame({ type: 'notification.read', ...marked })
    expect(fake.state().notifications.map((one) => one.read)).toEqual(read)
    expect(fake.state().notifications.map(({ seen }) => seen)).toEqual(read)
  })

  test('of another tab as seen leave unread what is unread', async () => {
    fake.inbox.add(1, 2)
    await greet({ unread: true })
    fake.inbox.isHeld = true
    fake.socket().frame({ type: 'notification.seen', ids: [idOf(1)] })
    expect(fake.state().notifications).toMatchObject([
      { seen: false, read: false },
      { seen: true, read: false },
    ])
  })

  test('are not undone by a page that was on its way', async () => {
    fake.inbox.add(1)
    fake.inbox.isHeld = true
    await greet({ unread: true })
    for (const row of fake.inbox.rows) row.read = true
    fake.socket().frame({ type: 'notification.read', ids: [idOf(1)] })
    fake.inbox.release()
    await fake.settle()
    expect(fake.states.flatMap(({ notifications }) => notifications.map((one) => one.read))).not.toContain(
      false,
    )
    expect(fake.state()).toMatchObject({ unread: false, notifications: [{ read: true }] })
  })

  test('on everything that is shown leave the dot, while something older is unread', async () => {
    fake.inbox.add(1, 2, 3, 4)
    await greet({ unread: true })
    await fake.client.markRead([2, 3, 4].map(idOf))
    await fake.settle()
    expect([fake.inbox.asked.at(-1), fake.state().unread]).toEqual(['/comms/unread', true])
    await fake.client.markRead([idOf(1)])
    await fake.settle()
    expect(fake.state().unread).toBe(false)
  })

  test('that are refused change nothing, and the caller is told', async () => {
    fake.inbox.add(1)
    await greet({ unread: true })
    fake.inbox.status = 503
    await expect(fake.client.markRead([idOf(1)])).rejects.toThrow('notifications/read returned 503')
    expect(fake.state().notifications).toMatchObject([{ read: false }])
  })
})

test('a client that is closed closes its socket and does nothing any more', async () => {
  await greet()
  const socket = fake.socket()
  fake.client.close()
  expect([socket.isClosed, fake.state()]).toMatchObject([true, { connected: false, ended: 1000 }])
  socket.end(1006)
  await vi.advanceTimersByTimeAsync(3_600_000)
  expect([fake.sockets.length, vi.getTimerCount()]).toEqual([1, 0])
})
