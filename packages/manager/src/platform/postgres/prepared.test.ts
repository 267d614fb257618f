// Tests how statements share the connections of the lookup pool.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import { whileLocked } from '../../../test/kit/locks.ts'
import { runAsOwner } from './owner.ts'
import type { PreparedStatement } from './prepared.ts'

let service: TestApp
beforeAll(async () => {
  service = await startTestApp({ env: { SVC_DATABASE_LOOKUP_POOL_SIZE: '4' } })
})
afterAll(() => service.close())

const held: [string, unknown[]] = ['select pg_advisory_xact_lock(59)', []]
const countWaiting = async (): Promise<number | null> =>
  (
    await service.sql.query(
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    )
  ).rowCount
/** Starts a statement that waits for the lock. */
const start = (name: string, how: Pick<PreparedStatement, 'kind' | 'size'>) =>
  service.world.database.run<{ n: number }>(
    { name, text: 'select 1 as n from pg_advisory_xact_lock_shared(59)', ...how },
    [],
  )
const readSmall = () => service.world.database.run({ name: 'small', kind: 'read', text: 'select 1 as n' }, [])

const startAll = (names: readonly string[], how: Pick<PreparedStatement, 'kind' | 'size'>) =>
  names.map((name) => start(`${how.size ?? how.kind}-${name}`, how))

test('large reads leave a connection to changes, and both leave one to small reads', async () => {
  await whileLocked(service.database.url, held, async (commit) => {
    const large = startAll(['one', 'two', 'three'], { kind: 'read', size: 'large' })
    await expect.poll(countWaiting).toBe(2)
    const changes = startAll(['one', 'two'], { kind: 'write' })
    await expect.poll(countWaiting).toBe(3)
    expect(await readSmall()).toEqual([{ n: 1 }])
    expect(await countWaiting()).toBe(3)
    await commit()
    expect((await Promise.all([...large, ...changes])).flat()).toHaveLength(5)
  })
})

test.each(['large', 'quick'] as const)(
  'changes that wait leave a connection to a %s statement',
  async (size) => {
    await whileLocked(service.database.url, held, async (commit) => {
      const changes = startAll(['one', 'two', 'three'], { kind: 'write' })
      await expect.poll(countWaiting).toBe(2)
      const other = start(`other-${size}`, { kind: size === 'large' ? 'read' : 'idempotent', size })
      await expect.poll(countWaiting).toBe(3)
      await commit()
      expect((await Promise.all([...changes, other])).flat()).toHaveLength(4)
    })
  },
)

test('a project that waits leaves a connection to the others', async () => {
  const startFor = (projectId: string) =>
    runAsOwner({ caller: 'somebody', projectId }, () => start('change', { kind: 'write' }))
  await whileLocked(service.database.url, held, async (commit) => {
    const own = [startFor('first'), startFor('first'), startFor('first')]
    await expect.poll(countWaiting).toBe(1)
    const other = startFor('second')
    await expect.poll(countWaiting).toBe(2)
    await commit()
    expect((await Promise.all([...own, other])).flat()).toHaveLength(4)
  })
})

test('long statements have their own connections', async () => {
  await whileLocked(service.database.url, held, async (commit) => {
    const long = start('long', { kind: 'write', size: 'long' })
    const changes = ['one', 'two'].map((name) => start(`change-${name}`, { kind: 'idempotent' }))
    await expect.poll(countWaiting).toBe(3)
    await commit()
    expect((await Promise.all([long, ...changes])).flat()).toHaveLength(3)
  })
})
