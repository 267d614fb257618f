import { describe, expect, test } from 'vitest'
import { type FairQueueOptions, createFairQueue } from './fair-queue.ts'

/** A queue whose jobs end when told, and the order in which they began. */
function harness(options: FairQueueOptions) {
  const queue = createFairQueue(options)
  const begun: string[] = []
  const ends: (() => void)[] = []
  return {
    queue,
    begun,
    submit: (lane: string, owner: string): Promise<void> =>
      queue.run({ lane, owner }, () => {
        begun.push(`${lane} ${owner}`)
        return new Promise((resolve) => ends.push(resolve))
      }),
    /** Ends the job that began first of those still running, and lets the next one begin. */
    endOne: async (): Promise<void> => {
      ends.shift()?.()
      await new Promise((resolve) => setImmediate(resolve))
    },
  }
}

describe('the queue in front of the slow hash', () => {
  test('runs as many jobs at once as there are workers', async () => {
    const { submit, begun, endOne } = harness({ workers: 2, maxPerLane: 9, maxPerOwner: 9 })
    for (const owner of ['a', 'b', 'c']) void submit('token', owner)
    expect(begun).toEqual(['token a', 'token b'])
    await endOne()
    expect(begun).toEqual(['token a', 'token b', 'token c'])
  })

  test('gives an owner its share of the workers at once, and passes it over for the next', async () => {
    const share = { workers: 3, maxPerLane: 99, maxPerOwner: 2, maxRunningPerOwner: 2 }
    const { queue, submit, begun, endOne } = harness(share)
    for (let i = 0; i < 4; i++) void submit('name', 'flood')
    expect(begun).toEqual(['name flood', 'name flood'])
    void submit('name', 'guest')
    void submit('name', 'guest')
    expect(begun).toEqual(['name flood', 'name flood', 'name guest'])
    await endOne()
    expect(begun.slice(3)).toEqual(['name flood'])
    for (let i = 0; i < 3; i++) await endOne()
    expect(begun.slice(4).toSorted()).toEqual(['name flood', 'name guest'])
    const account = { lane: 'name', owner: 'flood' }
    expect(Array.from({ length: 5 }, () => queue.reserve(account) !== null)).toEqual([
      true,
      true,
      true,
      true,
      false,
    ])
  })

  test('lanes take turns, and owners within a lane, however many jobs one of them has waiting', async () => {
    const { submit, begun, endOne } = harness({ workers: 1, maxPerLane: 99, maxPerOwner: 99 })
    for (let i = 0; i < 4; i++) void submit('password', 'flood')
    void submit('password', 'guest')
    void submit('token', 'owner')
    for (let i = 0; i < 6; i++) await endOne()
    expect(begun).toEqual([
      'password flood',
      'password flood',
      'token owner',
      'password guest',
      'password flood',
      'password flood',
    ])
  })

  test('a lane holds so many, one owner their share of them, and other lanes are not touched', () => {
    const { queue } = harness({ workers: 1, maxPerLane: 3, maxPerOwner: 1 })
    const take = (lane: string, owner: string) => queue.reserve({ lane, owner })
    const places = [take('password', 'a'), take('password', 'a')]
    expect(places).not.toContain(null)
    expect(take('password', 'a')).toBeNull()
    expect(take('password', 'b')).not.toBeNull()
    expect(take('password', 'c')).not.toBeNull()
    expect(take('password', 'd')).toBeNull()
    expect(take('token', 'd')).not.toBeNull()
    places[0]?.()
    expect(take('password', 'd')).not.toBeNull()
  })

  test('a job that fails makes room like one that ends well', async () => {
    const { queue, submit, begun } = harness({ workers: 1, maxPerLane: 9, maxPerOwner: 9 })
    const failing = queue.run({ lane: 'token', owner: 'a' }, () => Promise.reject(new Error('broken')))
    void submit('token', 'b')
    await expect(failing).rejects.toThrow('broken')
    await new Promise((resolve) => setImmediate(resolve))
    expect(begun).toEqual(['token b'])
  })
})
