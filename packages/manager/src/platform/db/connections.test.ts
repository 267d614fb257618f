// What the failure of one connection says of the others.
import { EventEmitter } from 'node:events'
import type { Pool } from 'pg'
import { expect, test, vi } from 'vitest'
import { keepConnectionsHonest } from './connections.ts'

const timeout = new Error('Query read timeout')

/** A pool with one connection that answers nothing. */
function silentPool() {
  const [destroy, onUseless] = [vi.fn<() => void>(), vi.fn<() => void>()]
  const pool = Object.assign(new EventEmitter(), { _idle: [] })
  keepConnectionsHonest(pool as unknown as Pool, onUseless)
  const query = (_query: object): Promise<void> => Promise.reject(timeout)
  const client = Object.assign(new EventEmitter(), { query, connection: { stream: { destroy } } })
  pool.emit('connect', client)
  return { pool, client, destroy, onUseless }
}

test('a statement that is not answered in its whole time speaks for the server', async () => {
  const { client, destroy, onUseless } = silentPool()
  await expect(client.query({ text: 'select 1' })).rejects.toBe(timeout)
  expect([destroy.mock.calls.length, onUseless.mock.calls.length]).toEqual([1, 1])
})

test('one that had little time left ends its own connection alone', async () => {
  const { pool, client, destroy, onUseless } = silentPool()
  await expect(client.query({ text: 'select 1', query_timeout: 500 })).rejects.toBe(timeout)
  pool.emit('release', timeout, client)
  expect([destroy.mock.calls.length, onUseless.mock.calls.length]).toEqual([1, 0])
})
