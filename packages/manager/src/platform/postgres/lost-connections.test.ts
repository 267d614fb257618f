// Tests connections that the server closes: reads are retried successfully, and a failed write reports whether it may
// have been applied.
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import { type BlackholeProxy, startBlackholeProxy } from '../../../test/kit/blackhole-proxy.ts'
import { createDatabase, type Database } from './database.ts'
import { createDbErrorMapper } from './db-errors.ts'
import { isOutcomeUnknown } from './outcomes.ts'
import type { RetryKind } from './retry.ts'

let service: TestApp
let way: BlackholeProxy
let database: Database
const retries: RetryKind[] = []
const name = 'lost-connections'
beforeAll(async () => {
  service = await startTestApp()
  await service.sql.query('create table lost_writes (id int primary key)')
  const url = new URL(service.database.url)
  way = await startBlackholeProxy({ host: '127.0.0.1', port: Number(url.port || 5432) })
  url.host = `127.0.0.1:${way.port}`
  database = createDatabase({
    url: url.href,
    poolSize: 4,
    lookupPoolSize: 4,
    statementTimeoutMs: 30_000,
    acquireTimeoutMs: 30_000,
    applicationName: name,
    log: service.world.log,
    onRetry: (kind) => retries.push(kind),
  })
})
beforeEach(async () => {
  retries.length = 0
  await service.sql.query('truncate lost_writes')
})
afterAll(async () => {
  await database.close()
  await way.close()
  await service.close()
})

const lookUp = () => database.run<{ n: number }>({ name: 'n', kind: 'read', text: 'select 1 as n' }, [])
const select = () => database.db.read.selectFrom('users').select('id').limit(1).execute()
const begin = () =>
  database.db.transaction((tx) => tx.selectFrom('users').select('id').execute(), { mustNotRetry: true })
const warm = () => Promise.all([1, 2, 3, 4].flatMap(() => [lookUp(), select()]))
const pids = async (): Promise<number[]> =>
  (
    await service.sql.query<{ pid: number }>(
      'select pid from pg_stat_activity where application_name = $1 order by pid',
      [name],
    )
  ).rows.map(({ pid }) => pid)
const terminateAll = () =>
  service.sql.query('select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1', [
    name,
  ])

describe('when all sessions are ended', () => {
  test('no read and no beginning of a transaction fails, however often', async () => {
    for (let round = 0; round < 10; round++) {
      await warm()
      const ended = terminateAll()
      const calls = [1, 2, 3, 4].flatMap(() => [lookUp(), select(), begin()])
      const answers = await Promise.allSettled(calls)
      await ended
      // A transaction that has started is not retried here.
      const failed = answers.filter(({ status }, index) => status === 'rejected' && index % 3 !== 2)
      expect(failed).toEqual([])
    }
  })

  test('a connection that learns of it makes all pools leave theirs', async () => {
    await warm()
    const before = await pids()
    expect(before.length).toBeGreaterThan(2)
    const [first] = before
    await service.sql.query('select pg_terminate_backend($1)', [first])
    await expect.poll(async () => (await pids()).filter((pid) => before.includes(pid))).toEqual([])
    expect(await lookUp()).toEqual([{ n: 1 }])
  })
})

describe('a change', () => {
  const insert = (id: number) =>
    database.run({ name: 'w', kind: 'write', text: 'insert into lost_writes values ($1)' }, [id])
  const errorOf = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => null,
      (error: unknown) => error,
    )
  /** Blocks the work with a table lock in another session, and resets its connections while it waits. */
  const cutDuring = async (work: () => Promise<unknown>): Promise<unknown> => {
    const holder = await service.sql.connect()
    try {
      await holder.query('begin; lock table lost_writes')
      const error = errorOf(work())
      const waiting = () =>
        service.sql.query(
          "select from pg_stat_activity where application_name = $1 and wait_event_type = 'Lock'",
          [name],
        )
      await expect.poll(async () => (await waiting()).rowCount, { timeout: 20_000 }).toBe(1)
      way.reset()
      await holder.query('rollback')
      return await error
    } finally {
      holder.release(true)
    }
  }

  test('outside a transaction is not repeated, and may have been made', async () => {
    const error = await cutDuring(() => insert(1))
    expect([isOutcomeUnknown(error), retries]).toEqual([true, []])
  })

  test('that may run twice is repeated', async () => {
    const text = 'insert into lost_writes values ($1) on conflict do nothing'
    const write = () => database.run({ name: 'i', kind: 'idempotent', text }, [2])
    expect(await cutDuring(write)).toBe(null)
    expect(retries).toContain('write')
    expect((await service.sql.query('select id from lost_writes where id = 2')).rowCount).toBe(1)
  })

  test('by a query builder is repeated exactly if it is declared idempotent', async () => {
    const insert = sql`insert into lost_writes values (6) on conflict do nothing`
    const error = await cutDuring(() => insert.execute(database.db.write))
    expect([isOutcomeUnknown(error), retries]).toEqual([true, []])
    expect(await cutDuring(() => insert.execute(database.db.idempotent))).toBe(null)
    expect(retries).toContain('write')
  })

  test('in a transaction that was cut before its end was not made, and says so', async () => {
    const error = await cutDuring(() =>
      database.db.transaction(
        async (tx) => {
          await tx.selectFrom('users').select('id').execute()
          await sql`insert into lost_writes values (3)`.execute(tx)
        },
        { mustNotRetry: true },
      ),
    )
    expect(error).toBeInstanceOf(Error)
    expect(isOutcomeUnknown(error)).toBe(false)
  })

  const endItself = sql`select pg_terminate_backend(pg_backend_pid())`

  test('in a transaction that may run again is made once, though its connection was ended before COMMIT', async () => {
    let runs = 0
    await database.db.transaction(async (tx) => {
      await sql`insert into lost_writes values (4)`.execute(tx)
      if (++runs === 1) await endItself.execute(tx)
    })
    expect([runs, retries]).toEqual([2, ['transaction']])
    expect((await service.sql.query('select id from lost_writes')).rows).toEqual([{ id: 4 }])
  })

  test('in a transaction that is ended in its COMMIT is not repeated, and may have been made', async () => {
    await service.sql.query(`
      create function end_session() returns trigger language plpgsql as
        'begin perform pg_terminate_backend(pg_backend_pid()); return null; end';
      create constraint trigger ends after insert on lost_writes deferrable initially deferred
        for each row execute function end_session()`)
    try {
      let runs = 0
      const error = await errorOf(
        database.db.transaction(async (tx) => {
          runs++
          await sql`insert into lost_writes values (5)`.execute(tx)
        }),
      )
      expect([runs, isOutcomeUnknown(error)]).toEqual([1, true])
      expect(createDbErrorMapper({})(error)).toMatchObject({
        status: 503,
        retryAfterSeconds: 1,
        message: expect.stringContaining('may or may not have been applied') as string,
      })
    } finally {
      await service.sql.query('drop trigger ends on lost_writes')
    }
  })

  test('that lost against another one begins anew', async () => {
    let runs = 0
    await database.db.transaction(async (tx) => {
      if (++runs < 3)
        await sql`do $$ begin raise exception 'lost' using errcode = '40P01'; end $$`.execute(tx)
    })
    expect(runs).toBe(3)
  })
})
