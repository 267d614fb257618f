// These tests run the hub with fake sockets that record the number and order of frames.
import { describe, expect, test } from 'vitest'
import type { Channels, CreateChannels } from '../../platform/redis/channels.ts'
import { createMetrics } from '../../platform/metrics.ts'
import type { Frame } from '../../platform/sockets/frames.ts'
import type { LiveSocket } from '../../platform/sockets/live-socket.ts'
import { buildLiveFrame } from '../notifications/hint-texts.pure.ts'
import { decodeHint } from './hint-message.pure.ts'
import type { Hint } from './hints.pure.ts'
import { createHub } from './hub.service.ts'
import type { Member } from './rooms.service.ts'
import { createSocketMetrics } from './sockets.metrics.ts'

const place = { tenantId: 'tenant', applicationId: 'application' }
const publishedAt = '2026-01-01T00:00:00.000Z'
const live = (data: number, change: Partial<Hint> = {}): Hint => ({
  ...place,
  audience: { everyone: true },
  text: buildLiveFrame({ topic: null, data: String(data), publishedAt }),
  mayDrop: true,
  ...change,
})
const aTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

function startHub(isTaken = true) {
  const published: [string, string][] = []
  const [subscribed, left]: [string[], string[]] = [[], []]
  let hear: Parameters<CreateChannels>[0] = () => undefined
  const channels: Channels = {
    publish: (channel, message) => isTaken && published.push([channel, message]) > 0,
    subscribe: (channel) => Promise.resolve(subscribed.push(channel) > 0),
    unsubscribe: (channel) => void left.push(channel),
    close: () => Promise.resolve(),
  }
  const { registry, ...factory } = createMetrics('x')
  const create: CreateChannels = (listener) => {
    hear = listener
    return channels
  }
  const metrics = createSocketMetrics(factory)
  const hub = createHub({ channels: create, clock: { now: () => new Date() }, metrics, lingerMs: 20 })
  let sockets = 0
  // The distinct frames that were written.
  const frames = new Set<Frame>()
  const enter = (seat: Partial<typeof place> & { isAdmitted?: boolean } = {}) => {
    const written: number[] = []
    const ended: number[] = []
    const socket = {
      written,
      end: (code: number) => ended.push(code),
      deliver: (frame: Frame) => {
        frames.add(frame)
        const { data } = JSON.parse(frame.subarray(frame.indexOf('{')).toString()) as { data: number }
        return written.push(data) > 0
      },
    } as unknown as LiveSocket & { written: number[] }
    const member = hub.enter({ socket, ...place, ...seat, userId: `user ${sockets++}` }) as Member
    if (seat.isAdmitted !== false) hub.release(member)
    return { member, socket, written, ended, leave: () => socket.onEnded?.(socket) }
  }
  return {
    frames,
    hub,
    enter,
    published,
    subscribed,
    left,
    registry,
    hear: (...message: [string, string]) => hear(...message),
  }
}

describe('a hint', () => {
  test('is framed once and published once, however many sockets get it', async () => {
    const { hub, enter, published, hear, frames } = startHub()
    const sockets = Array.from({ length: 2_500 }, () => enter())
    hub.send(live(1))
    await expect.poll(() => sockets.every(({ written }) => written.length === 1)).toBe(true)
    expect([frames.size, published.length]).toEqual([1, 1])
    expect(decodeHint(published[0]?.[1] ?? '')?.hint.text).toBe(live(1).text)
    // A process that receives the hint delivers it in the same way, but does not publish it again.
    hear(...(published[0] as [string, string]))
    await expect.poll(() => sockets.every(({ written }) => written.length === 2)).toBe(true)
    expect([frames.size, published.length]).toEqual([2, 1])
  })

  test('lets others in after 1,000 writes, and the next comes after it on every socket', async () => {
    const { hub, enter } = startHub()
    const sockets = Array.from({ length: 3_500 }, () => enter())
    hub.send(live(1))
    const reached = (): number => sockets.filter(({ written }) => written.includes(1)).length
    expect(reached()).toBe(1_000)
    // A hint for a single socket also waits for its turn.
    const users = ['user 3400']
    hub.send(live(2, { audience: { users, roles: [], members: false } }))
    hub.send(live(3))
    sockets[3_000]?.leave()
    await aTurn()
    expect(reached()).toBe(2_000)
    await expect.poll(() => sockets[3_499]?.written).toEqual([1, 3])
    expect(sockets[3_400]?.written).toEqual([1, 2, 3])
    expect(sockets[3_000]?.written).toEqual([])
  })

  test('that waits too long behind others is left out and counted', async () => {
    const { hub, enter, registry } = startHub()
    const sockets = Array.from({ length: 1_001 }, () => enter())
    for (let i = 0; i < 300; i++) hub.send(live(i))
    await expect.poll(() => sockets[1_000]?.written.length).toBe(256)
    expect(await registry.metrics()).toContain(`svc_ws_dropped_total{reason="backlog"} ${44 * 1_001}`)
  })

  test('that may not be left out takes the place of one that may be', async () => {
    const { hub, enter, registry } = startHub()
    const sockets = Array.from({ length: 1_001 }, () => enter())
    for (let i = 0; i < 256; i++) hub.send(live(i))
    hub.send(live(1_000, { mayDrop: false }))
    await expect.poll(() => sockets[1_000]?.written.at(-1)).toBe(1_000)
    expect(sockets[1_000]?.written.slice(0, 3)).toEqual([0, 2, 3])
    expect(await registry.metrics()).toContain('svc_ws_dropped_total{reason="backlog"} 1001')
  })

  test('that may not be left out, to one that is being admitted, is kept or ends its socket', () => {
    const { hub, enter } = startHub()
    const { member, socket, ended } = enter({ isAdmitted: false })
    for (let i = 0; i < 64; i++) hub.send(live(i))
    for (let i = 100; i < 164; i++) hub.send(live(i, { mayDrop: false }))
    expect(member.bufferedDeliveries?.every(({ mayDrop }) => !mayDrop)).toBe(true)
    expect([member.bufferedDeliveries?.length, ended]).toEqual([64, []])
    hub.send(live(200))
    expect(ended).toEqual([])
    hub.send(live(201, { mayDrop: false }))
    expect(ended).toEqual([4001])
    expect(socket.written).toEqual([])
  })

  test('to one that is being admitted is kept, up to 64, and sent after that', async () => {
    const { hub, enter, registry } = startHub()
    const { member, written } = enter({ isAdmitted: false })
    for (let i = 0; i < 70; i++) hub.send(live(i))
    await expect.poll(() => member.bufferedDeliveries?.length).toBe(64)
    expect(written).toEqual([])
    hub.release(member)
    hub.send(live(70))
    expect(written).toEqual([...Array.from({ length: 64 }, (_, i) => i), 70])
    expect(await registry.metrics()).toContain('svc_ws_dropped_total{reason="joining"} 6')
  })

  test('that cannot be published is counted as lost, and reaches the sockets here', async () => {
    const { hub, enter, registry } = startHub(false)
    const { written } = enter()
    hub.send(live(1))
    expect(written).toEqual([1])
    expect(await registry.metrics()).toContain('svc_hints_lost_total 1')
  })

  test('that is too large to be published is counted as lost', async () => {
    const { hub, published, registry } = startHub()
    hub.send(live(1, { text: 'x'.repeat(300_000) }))
    expect(published).toEqual([])
    expect(await registry.metrics()).toContain('svc_hints_lost_total 1')
  })
})

describe('a tenant', () => {
  test('is subscribed to once while it has sockets, and left some time after the last is gone', async () => {
    const { enter, subscribed, left } = startHub()
    const [first, second, other] = [enter(), enter({ applicationId: 'b' }), enter({ tenantId: 'other' })]
    expect(subscribed).toEqual(['tenant', 'other'])
    for (const { leave } of [first, second]) leave()
    const third = enter()
    expect(subscribed).toEqual(['tenant', 'other'])
    third.leave()
    await expect.poll(() => left).toEqual(['tenant'])
    enter()
    expect(subscribed).toEqual(['tenant', 'other', 'tenant'])
    other.leave()
    other.leave()
    await expect.poll(() => left).toEqual(['tenant', 'other'])
  })
})
