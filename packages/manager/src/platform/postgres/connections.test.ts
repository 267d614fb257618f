// Tests the effects of a failed connection on the other connections.
import { EventEmitter } from 'node:events'
import type { Pool, PoolClient } from 'pg'
import { expect, test, vi } from 'vitest'
import { acquire } from './acquire.ts'
import { Connection, queryOn, watchConnections } from './connections.ts'

const timeout = new Error('Query read timeout')

/** A pool with one connection, on which every statement times out. */
function silentPool() {
  const onFailed = vi.fn<() => void>()
  const connection = new Connection()
  const destroy = vi.spyOn(connection, 'destroy')
  const query = (): Promise<never> => Promise.reject(timeout)
  const client = Object.assign(connection, { query }) as unknown as PoolClient
  const pool = new EventEmitter()
  const renew = watchConnections(pool as Pool, onFailed)
  pool.emit('connect', client)
  pool.emit('acquire', client)
  return { pool, connection, client, destroy, onFailed, renew }
}

test('a statement that is not answered in its whole time speaks for the server', async () => {
  const { client, destroy, onFailed } = silentPool()
  const query = { text: 'select 1', query_timeout: 5_500, isShort: false }
  await expect(queryOn(client, query)).rejects.toBe(timeout)
  expect([destroy.mock.calls.length, onFailed.mock.calls.length]).toEqual([1, 1])
})

test('one that had little time left ends its own connection alone', async () => {
  const { pool, client, destroy, onFailed } = silentPool()
  const query = { text: 'select 1', query_timeout: 500, isShort: true }
  await expect(queryOn(client, query)).rejects.toBe(timeout)
  pool.emit('release', timeout, client)
  expect([destroy.mock.calls.length, onFailed.mock.calls.length]).toEqual([1, 0])
})

test('a retired connection is closed when it is idle, and not before', () => {
  const { pool, client, destroy, renew } = silentPool()
  renew()
  expect(destroy).not.toHaveBeenCalled()
  pool.emit('release', undefined, client)
  expect(destroy).toHaveBeenCalledOnce()
})

test('a retired connection is not handed out, and says nothing about the server', async () => {
  const { connection, client, onFailed, renew } = silentPool()
  renew()
  connection.emit('error', new Error('Connection terminated unexpectedly'))
  expect(onFailed).not.toHaveBeenCalled()
  const release = vi.fn<(isBroken: boolean) => void>()
  const fresh = { release }
  const handedOut: object[] = [Object.assign(client, { release }), fresh]
  const connect = () => Promise.resolve(handedOut.shift())
  const acquired = await acquire({ connect, idleCount: 1, waitingCount: 1, options: {} } as never, 1_000)
  expect(acquired).toBe(fresh)
  expect(release.mock.calls).toEqual([[true]])
})
