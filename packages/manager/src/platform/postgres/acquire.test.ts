// Tests that a caller waits for a connection no longer than the remaining time of its statement, and that late
// connections are released.
import type { Pool, PoolClient } from 'pg'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { acquire, createTimeLimit } from './acquire.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A pool with a timeout of 5 s that provides a connection after `ms` milliseconds. */
function poolAfter(ms: number, counts = { idleCount: 0, waitingCount: 1 }) {
  const release = vi.fn<() => void>()
  const client = { release } as unknown as PoolClient
  const connect = (): Promise<PoolClient> =>
    new Promise((resolve) => void setTimeout(() => resolve(client), ms))
  const pool = { connect, ...counts, options: { connectionTimeoutMillis: 5_000 } } as unknown as Pool
  return { pool, client, release }
}

test('a connection that is there in time is handed out', async () => {
  const { pool, client, release } = poolAfter(200)
  const acquired = acquire(pool, 300)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(await acquired).toBe(client)
  expect(release).not.toHaveBeenCalled()
})

test('one that others wait for as well is not there yet', async () => {
  const { pool } = poolAfter(400, { idleCount: 1, waitingCount: 2 })
  const failure = acquire(pool, 300).catch((error: Error) => error.message)
  await vi.advanceTimersByTimeAsync(400)
  expect(await failure).toContain('timeout exceeded')
})

test('one that comes too late is given back, and its caller has heard of it already', async () => {
  const { pool, release } = poolAfter(400)
  const failure = acquire(pool, 300).catch((error: Error) => error.message)
  await vi.advanceTimersByTimeAsync(300)
  expect(await failure).toBe('timeout exceeded when trying to connect')
  expect(release).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(100)
  expect(release).toHaveBeenCalledOnce()
})

test('where the timeout of the pool is shorter, or a connection is free, no other is set', async () => {
  for (const { pool, withinMs } of [
    { pool: poolAfter(10).pool, withinMs: 5_000 },
    { pool: poolAfter(10, { idleCount: 2, waitingCount: 2 }).pool, withinMs: 1 },
  ]) {
    const acquired = acquire(pool, withinMs)
    expect(vi.getTimerCount()).toBe(1)
    await vi.advanceTimersByTimeAsync(10)
    await acquired
  }
})

test('what was waited counts; what is sent has half a second', () => {
  const time = createTimeLimit(poolAfter(0).pool, 5_500)
  const seen = () => [time.limits(true).isShort, time.getWaitMs(), time.limits(true).query_timeout]
  expect(seen()).toEqual([false, 5_500, 5_500])
  vi.advanceTimersByTime(4_000)
  expect(seen()).toEqual([true, 1_500, 1_500])
  vi.advanceTimersByTime(4_000)
  expect(seen()).toEqual([true, 1, 500])
  // A statement that must not run twice gets its full time.
  expect(time.limits(false)).toEqual({ query_timeout: 5_500, isShort: false })
})

test('where statements may take less than waits, a wait has its whole time', () => {
  const time = createTimeLimit(poolAfter(0).pool, 1_500)
  expect([time.getWaitMs(), time.limits(true).query_timeout]).toEqual([5_500, 1_500])
})
