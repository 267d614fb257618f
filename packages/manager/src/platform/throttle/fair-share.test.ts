// Tests owner shares, the order of requests and the termination of slow transfers, with fake timers.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type FairShareOptions, type Lease, type Owners, createFairShare } from './fair-share.ts'
import { type WatchSpeed, createSpeedWatch } from './transfer-speed.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const settled = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0)

/** A share with named uses, which records the uses that were served and refused. */
function harness(options: Partial<FairShareOptions> & { capacity: number }) {
  const share = createFairShare({ maxWaiting: 100, maxWaitMs: 10_000, overloadMessage: 'full', ...options })
  const leases = new Map<string, Lease>()
  const begun: string[] = []
  const refused: string[] = []
  return {
    share,
    begun,
    refused,
    take: (name: string, owners: Owners, size = 1): void =>
      void (async () => {
        try {
          leases.set(name, await share.take(owners, size))
          begun.push(name)
        } catch {
          refused.push(name)
        }
      })(),
    release: async (name: string): Promise<void> => {
      leases.get(name)?.release()
      await settled()
    },
  }
}

describe('places that are never ended', () => {
  test('an owner alone gets all but an eighth, at least one place, which is kept for owners that hold nothing', async () => {
    for (const [capacity, most] of [
      [16, 14],
      [4, 3],
      [1, 1],
    ] as const) {
      const { take, begun } = harness({ capacity })
      for (let i = 0; i < capacity; i++) take(`a${i}`, ['a'])
      await settled()
      expect(begun).toHaveLength(most)
    }
    const { take, begun } = harness({ capacity: 16 })
    for (let i = 0; i < 20; i++) take('a', ['a'])
    take('b', ['b'])
    take('c', ['c'])
    take('d', ['d'])
    await settled()
    expect(begun.slice(14)).toEqual(['b', 'c'])
  })

  test('what becomes free goes to the owner that holds least, and nobody grows above a share meanwhile', async () => {
    const { take, begun, release } = harness({ capacity: 8 })
    for (let i = 0; i < 9; i++) take(`a${i}`, ['a'])
    for (let i = 0; i < 4; i++) take(`b${i}`, ['b'])
    await settled()
    expect(begun).toEqual(['a0', 'a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'b0'])
    // With two owners, a share is 8 / 3, and one slot is reserved for a third owner.
    for (let i = 0; i < 5; i++) await release(`a${i}`)
    expect(begun.slice(8)).toEqual(['b1'])
    await release('a5')
    expect(begun.slice(9)).toEqual(['a7'])
  })

  test('among owners that hold the same, the one served longest ago is next', async () => {
    const { take, begun, release } = harness({ capacity: 1 })
    take('a0', ['a'])
    await settled()
    for (const name of ['a1', 'a2', 'b1', 'b2', 'c1']) take(name, [name.charAt(0)])
    for (const name of ['a0', 'c1', 'b1', 'a1', 'b2']) await release(name)
    expect(begun).toEqual(['a0', 'c1', 'b1', 'a1', 'b2', 'a2'])
  })

  test('levels are compared one after the other, and each has its turns', async () => {
    const { take, begun, release } = harness({ capacity: 1 })
    take('first', ['password', 'p', 'x'])
    await settled()
    take('p x', ['password', 'p', 'x'])
    take('p y', ['password', 'p', 'y'])
    take('q z', ['password', 'q', 'z'])
    take('token', ['token', 'p', 'x'])
    for (const name of ['first', 'token', 'q z', 'p y']) await release(name)
    expect(begun).toEqual(['first', 'token', 'q z', 'p y', 'p x'])
  })

  test('where few of the newest count, the oldest of them is next, but only among equals', async () => {
    const { take, begun, release } = harness({ capacity: 1, newestWindow: 2 })
    take('a0', ['a'])
    await settled()
    take('a1', ['a'])
    for (const name of ['b', 'c', 'd']) take(name, [name])
    for (const name of ['a0', 'c', 'b', 'd']) await release(name)
    expect(begun).toEqual(['a0', 'c', 'b', 'd', 'a1'])
  })

  test('callers that ask again at once do not keep one of the newest waiting', async () => {
    const { take, begun, release } = harness({ capacity: 1, newestWindow: 4 })
    const flood = Array.from({ length: 40 }, (_, i) => `f${i}`)
    for (const name of flood) take(name, ['flood', name])
    await settled()
    take('valid', ['flood', 'valid'])
    let rounds = 0
    while (begun.at(-1) !== 'valid') {
      const name = begun.at(-1) as string
      await release(name)
      // The caller that was served sends another request, which is now the newest one.
      take(name, ['flood', name])
      await settled()
      rounds++
    }
    expect(rounds).toBeLessThanOrEqual(4)
  })

  test('of owners that were never served, the one with the fewest waiting requests is next', async () => {
    const { take, begun, release } = harness({ capacity: 1, newestWindow: 4 })
    take('first', ['first'])
    await settled()
    for (let i = 0; i < 20; i++) for (const half of ['a', 'b']) take(`${i}${half}`, [`p${i}`])
    take('quiet', ['quiet'])
    await settled()
    await release('first')
    expect(begun).toEqual(['first', 'quiet'])
  })

  test('of one owner, the newest that counts is next too, and a full queue refuses the oldest', async () => {
    const { take, begun, refused, release } = harness({ capacity: 1, newestWindow: 2, maxWaiting: 3 })
    for (const name of ['a0', 'a1', 'a2', 'a3', 'a4']) take(name, ['a'])
    await settled()
    expect(refused).toEqual(['a1'])
    for (const name of ['a0', 'a3']) await release(name)
    expect(begun).toEqual(['a0', 'a3', 'a2'])
  })

  test('a full queue gives a place to an owner that has none', async () => {
    const { take, refused, begun, release } = harness({ capacity: 1, maxWaiting: 3 })
    for (let i = 0; i < 4; i++) take(`a${i}`, ['a'])
    take('b', ['b'])
    take('a4', ['a'])
    await settled()
    expect([begun, refused]).toEqual([['a0'], ['a3', 'a4']])
    await release('a0')
    expect(begun).toEqual(['a0', 'b'])
  })

  test('the preferred owner is next and has a queue of its own length; each refusal is reported', async () => {
    const onRefused = vi.fn()
    const { take, begun, refused, release } = harness({
      capacity: 1,
      maxWaiting: 2,
      onRefused,
      preferredOwner: 'service',
    })
    for (const name of ['a0', 'b']) take(name, [name.charAt(0)])
    for (const name of ['s0', 's1', 's2']) take(name, ['service'])
    await settled()
    expect([refused, onRefused.mock.calls.length]).toEqual([['s2'], 1])
    for (const name of ['c', 'd']) take(name, [name])
    await settled()
    expect([refused, onRefused.mock.calls.length]).toEqual([['s2', 'd'], 2])
    await release('a0')
    expect(begun).toEqual(['a0', 's0'])
  })

  test('who waits too long is refused, and so is whoever gives up', async () => {
    const { take, share, refused } = harness({ capacity: 1, maxWaitMs: 1_000 })
    take('a', ['a'])
    await settled()
    take('b', ['b'])
    const lease = share.begin(['c'])
    const waiting = lease.add(1).catch((error: unknown) => error)
    lease.release()
    expect(await waiting).toMatchObject({ code: 'unavailable', message: 'full' })
    await vi.advanceTimersByTimeAsync(1_000)
    expect(refused).toEqual(['b'])
  })

  test('uses that wait for each other do not do so for long: one of them is refused at once', async () => {
    const { share } = harness({ capacity: 16, maxItemSize: 8 })
    const leases = [share.begin(['a']), share.begin(['a']), share.begin(['b'])] as const
    for (const lease of leases) await lease.add(4)
    const ended: string[] = []
    for (const [index, lease] of leases.entries())
      lease.add(4).then(
        () => ended.push(`${index} goes on`),
        () => {
          ended.push(`${index} is refused`)
          lease.release()
        },
      )
    await settled()
    expect(ended).toEqual(['0 is refused', '1 goes on'])
    leases[1].release()
    await settled()
    expect(ended.at(-1)).toBe('2 goes on')
  })

  test('the last level may have a bound of its own', async () => {
    const { take, begun, release } = harness({ capacity: 4, maxPerOwner: 1 })
    for (const name of ['a1', 'a2', 'b1']) take(name, ['p', name.charAt(0)])
    await settled()
    expect(begun).toEqual(['a1', 'b1'])
    await release('a1')
    expect(begun).toEqual(['a1', 'b1', 'a2'])
  })

  test('work that fails gives its place back', async () => {
    const { share } = harness({ capacity: 1 })
    await expect(share.run(['a'], () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
    expect(await share.run(['a'], () => Promise.resolve('ran'))).toBe('ran')
    expect(share.usedAmount).toBe(0)
  })

  test('an owner that was refused a place counts as waiting for five seconds', async () => {
    const { share } = harness({ capacity: 16 })
    const held = Array.from({ length: 14 }, () => share.tryTake('a'))
    expect(held).not.toContain(null)
    expect([share.tryTake('a'), share.hasSlotFor('a'), share.hasSlotFor('b')]).toEqual([null, false, true])
    expect([share.tryTake('b'), share.tryTake('b')]).toEqual([expect.anything(), null])
    // With two owners, a share is 16 / 3.
    for (const lease of held.slice(0, 8)) lease?.release()
    expect(share.hasSlotFor('a')).toBe(false)
    await vi.advanceTimersByTimeAsync(5_000)
    expect(share.hasSlotFor('a')).toBe(true)
  })
})

describe('transfers, of which slow ones may be ended', () => {
  const mebibyte = 1_048_576
  const options = { capacity: 10 * mebibyte, maxItemSize: 2 * mebibyte, canEndSlow: true } as const
  type Moving = { ended: boolean; bytesPerSecond: number; lease: Lease }
  let watch: WatchSpeed
  beforeEach(() => void (watch = createSpeedWatch()))
  const transfer = (
    share: ReturnType<typeof createFairShare>,
    owners: Owners,
    bytesPerSecond: number,
  ): Moving => {
    let [moved, since] = [0, performance.now()]
    const transferredBytes = (): number => {
      const now = performance.now()
      moved += ((now - since) / 1_000) * own.bytesPerSecond
      since = now
      return moved
    }
    const { isSlow } = watch(transferredBytes)
    const end = (): void => {
      own.ended = true
      own.lease.release()
    }
    const own: Moving = { ended: false, bytesPerSecond, lease: share.begin(owners, { isSlow, end }) }
    return own
  }
  const fill = async (
    share: ReturnType<typeof createFairShare>,
    owners: Owners[],
    bytesPerSecond: number,
  ) => {
    const all = owners.map((own) => transfer(share, own, bytesPerSecond))
    for (const { lease } of all) await lease.add(2 * mebibyte)
    return all
  }

  test('an owner alone may use all but an eighth', async () => {
    const { share, take, begun } = harness(options)
    await fill(share, [['a'], ['a'], ['a'], ['a']], 0)
    expect(share.usedAmount).toBe(8 * mebibyte)
    take('small', ['b'], mebibyte / 8)
    await settled()
    expect(begun).toEqual(['small'])
  })

  test('one that holds nothing is never chosen, and of one owner the one that frees most is', async () => {
    const { share, take, begun } = harness(options)
    const idle = Array.from({ length: 50 }, () => transfer(share, ['a', 'x'], 0))
    const all = await fill(
      share,
      [
        ['a', 'x'],
        ['a', 'x'],
        ['a', 'x'],
        ['a', 'x'],
      ],
      0,
    )
    await vi.advanceTimersByTimeAsync(6_000)
    take('b', ['b', 'y'], mebibyte)
    await settled()
    expect([begun, idle.some(({ ended }) => ended)]).toEqual([['b'], false])
    expect(all.filter(({ ended }) => ended)).toHaveLength(1)
  })

  test('stalled transfers make room for one of the same size, and one that waited in vain is ended like the others', async () => {
    const { share, take, begun, release } = harness(options)
    const all = await fill(share, [['p1'], ['p2'], ['p3'], ['p4']], 0)
    const waiting = transfer(share, ['p1'], 0)
    void waiting.lease.add(2 * mebibyte).catch(() => undefined)
    await vi.advanceTimersByTimeAsync(6_000)
    for (const name of ['q1', 'q2', 'q3']) {
      take(name, [name], 2 * mebibyte)
      await vi.advanceTimersByTimeAsync(6_000)
      expect(begun).toContain(name)
      await release(name)
    }
    expect(all.filter(({ ended }) => ended).length).toBeGreaterThan(0)
  })

  test('whoever needs room ends one slow transfer of the owner furthest above its share', async () => {
    const { share, take, begun } = harness(options)
    const [b, ...a] = await fill(share, [['b'], ['a'], ['a'], ['a']], 16_384)
    take('too early', ['c'], mebibyte)
    await vi.advanceTimersByTimeAsync(4_900)
    expect(begun).toEqual([])
    await vi.advanceTimersByTimeAsync(500)
    expect([begun, b?.ended, a.filter(({ ended }) => ended).length]).toEqual([['too early'], false, 1])
  })

  test('a fast transfer is not ended, and one that was fast and crawls now is', async () => {
    const { share, take, begun } = harness({ ...options, maxWaitMs: 30_000 })
    const all = await fill(share, [['a'], ['a'], ['a'], ['a']], 1_000_000)
    await vi.advanceTimersByTimeAsync(60_000)
    take('b', ['b'], mebibyte)
    await vi.advanceTimersByTimeAsync(9_000)
    expect([begun, all.some(({ ended }) => ended)]).toEqual([[], false])
    const [crawling] = all
    if (crawling !== undefined) crawling.bytesPerSecond = 64
    await vi.advanceTimersByTimeAsync(4_000)
    expect(begun).toEqual([])
    await vi.advanceTimersByTimeAsync(3_000)
    expect([begun, all.map(({ ended }) => ended)]).toEqual([['b'], [true, false, false, false]])
  })

  test('a client that holds the bundles of many projects is above its share, and so is a project of many clients', async () => {
    for (const owners of [
      [
        ['p1', 'x'],
        ['p2', 'x'],
        ['p3', 'x'],
        ['p4', 'x'],
      ],
      [
        ['p', 'x1'],
        ['p', 'x2'],
        ['p', 'x3'],
        ['p', 'x4'],
      ],
    ] as Owners[][]) {
      const { share, take, begun } = harness(options)
      const all = await fill(share, owners, 0)
      await vi.advanceTimersByTimeAsync(6_000)
      take('quiet', ['q', 'y'], mebibyte)
      await settled()
      expect([begun, all.filter(({ ended }) => ended).length]).toEqual([['quiet'], 1])
    }
  })

  test('after that an eighth stays free for small beginnings, however many owners flood', async () => {
    const { share, take, begun, release } = harness(options)
    const owners = Array.from({ length: 20 }, (_, index): Owners => [`p${index}`])
    const all = await fill(share, owners.slice(0, 4), 0)
    for (const [name] of owners.slice(4)) take(name, [name], 2 * mebibyte)
    await vi.advanceTimersByTimeAsync(6_000)
    for (let round = 0; round < 10; round++) {
      take(`quiet ${round}`, ['quiet'], mebibyte / 8)
      await settled()
      expect(begun.at(-1)).toBe(`quiet ${round}`)
      await release(`quiet ${round}`)
    }
    expect(all.filter(({ ended }) => ended).length).toBeGreaterThan(0)
  })

  test('a use can be moved to another owner, and what is moved counts there', async () => {
    const { share, take, begun } = harness(options)
    const [one] = await fill(share, [['a'], ['a'], ['a'], ['b']], 0)
    one?.lease.moveTo(['b'])
    await vi.advanceTimersByTimeAsync(6_000)
    take('a', ['a'], 2 * mebibyte)
    take('c', ['c'], mebibyte)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(begun).toContain('c')
    one?.lease.release()
    one?.lease.release()
    expect(share.usedAmount).toBeLessThanOrEqual(10 * mebibyte)
  })
})
