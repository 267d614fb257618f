// Durable jobs, on queues made up for these tests beside those of the service.
import { Client } from 'pg'
import { PgBoss } from 'pg-boss'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import { createDatabase } from '../db/database.ts'
import { grantPrivileges } from '../db/privileges.ts'
import { type Jobs, createJobs } from './jobs.ts'
import { type HeldJob, type JobOutcome, type Queue, Worker } from './worker.ts'

let service: TestApp
let jobs: Jobs
beforeAll(async () => {
  service = await startTestApp()
  await service.sql.query(
    `select jobs.create_queue('letters', '{"policy": "standard", "heartbeatSeconds": 10, "retryLimit": 1000}')`,
  )
  jobs = service.app.jobs
})
beforeEach(() => service.sql.query('delete from jobs.job_common'))
afterAll(() => service.close())

const inTransaction = <T>(work: Parameters<ReturnType<typeof transaction>['execute']>[0]): Promise<T> =>
  transaction().execute(work) as Promise<T>
const transaction = () => service.world.database.db.transaction()
const add = (...letters: { to: string; group?: string; delayMs?: number }[]) =>
  inTransaction((tx) =>
    jobs.enqueue(
      tx,
      'letters',
      letters.map(({ to, ...rest }) => ({ data: { to }, ...rest })),
    ),
  )
const fetchAll = (maxPerGroup: number | null = null) => jobs.fetch('letters', { count: 100, maxPerGroup })
const addressees = async (fetched: Promise<{ data: unknown }[]>): Promise<string[]> =>
  (await fetched).map(({ data }) => (data as { to: string }).to).toSorted()
const stored = async (): Promise<number> =>
  Number((await service.sql.query('select count(*) from jobs.job_common')).rows[0].count)
/** As if the process that fetched them had been silent for a while. */
const silence = () =>
  service.sql.query("update jobs.job_common set heartbeat_on = now() - interval '11 seconds'")
const supervise = async (): Promise<void> => {
  await service.sql.query('update jobs.queue set monitor_claim_on = null, monitor_on = null')
  await jobs.supervise()
  // Given back jobs wait a moment longer.
  await service.sql.query('update jobs.job_common set start_after = now() where state = $1', ['retry'])
}

describe('a job', () => {
  test('exists exactly when the transaction that adds it commits', async () => {
    await expect(
      inTransaction(async (tx) => {
        await jobs.enqueue(tx, 'letters', [{ data: { to: 'nobody' } }])
        throw new Error('changed my mind')
      }),
    ).rejects.toThrow('changed my mind')
    expect(await stored()).toBe(0)
    await add({ to: 'anna' }, { to: 'ben' })
    expect(await addressees(fetchAll())).toEqual(['anna', 'ben'])
    expect(await fetchAll()).toEqual([])
  })

  test('that waits is handed out when its time has come, by the clock of the database', async () => {
    await add({ to: 'later', delayMs: 60_000 }, { to: 'now' })
    expect(await addressees(fetchAll())).toEqual(['now'])
    const { rows } = await service.sql.query(
      `select round(extract(epoch from start_after - created_on)) as wait from jobs.job_common where state = 'created'`,
    )
    expect(Number(rows[0].wait)).toBe(60)
  })

  test('ends with the transaction of its result, or not at all', async () => {
    await add({ to: 'anna' })
    const claims = await fetchAll()
    await expect(
      inTransaction(async (tx) => {
        expect([...(await jobs.finish('letters', claims, tx))]).toEqual(claims.map(({ id }) => id))
        throw new Error('the result is not kept')
      }),
    ).rejects.toThrow('the result is not kept')
    expect(await stored()).toBe(1)
    await inTransaction((tx) => jobs.finish('letters', claims, tx))
    expect(await stored()).toBe(0)
  })

  test('of a lost process is handed out again, and the former one can neither end nor touch it', async () => {
    await add({ to: 'anna' })
    const former = await fetchAll()
    await supervise()
    expect(await fetchAll(), 'it was touched a moment ago').toEqual([])
    await silence()
    await supervise()
    const present = await fetchAll()
    expect(present).toMatchObject([{ data: { to: 'anna' }, retryCount: 1 }])
    expect([...(await jobs.touch('letters', former))]).toEqual([])
    expect([...(await jobs.finish('letters', former))]).toEqual([])
    expect([...(await jobs.touch('letters', present))]).toHaveLength(1)
    expect([...(await jobs.finish('letters', present))]).toHaveLength(1)
  })

  test('of a group waits while so many others of the group are worked on', async () => {
    await add(
      ...['a', 'b', 'c'].map((to) => ({ to, group: 'x/one' })),
      { to: 'd', group: 'x/two' },
      { to: 'e' },
    )
    const first = await fetchAll(2)
    expect(first).toHaveLength(4)
    expect(await fetchAll(2)).toEqual([])
    await jobs.finish('letters', first)
    expect(await fetchAll(2)).toHaveLength(1)
  })
})

describe('a worker', () => {
  type Run = (job: HeldJob) => Promise<void>
  const start = (run: Run, more: Partial<Queue> = {}) => {
    const outcomes: JobOutcome[] = []
    const queue: Queue = {
      name: 'letters',
      maxHeld: 10,
      pollMs: 20,
      run: (held) => held.map(run),
      ...more,
    }
    const worker = new Worker(queue, {
      jobs,
      log: service.world.log,
      count: (outcome) => void outcomes.push(outcome),
    })
    return { worker, outcomes }
  }
  const until = async (isTrue: () => boolean | Promise<boolean>): Promise<void> => {
    while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 5))
  }

  test('works on no more jobs at once than it may, and ends each', async () => {
    await add(...Array.from({ length: 25 }, (_, index) => ({ to: String(index) })))
    let [running, most] = [0, 0]
    const { worker, outcomes } = start(
      async () => {
        most = Math.max(most, ++running)
        await new Promise((resolve) => setImmediate(resolve))
        running--
      },
      { maxHeld: 4 },
    )
    await until(() => outcomes.length === 25)
    await worker.stop(1_000)
    expect(new Set(outcomes)).toEqual(new Set(['done']))
    expect(most).toBeLessThanOrEqual(4)
    expect(await stored()).toBe(0)
  })

  test('leaves to others what is above the share of an owner', async () => {
    await add(...['a', 'b', 'c', 'd'].map((to) => ({ to, group: 'greedy/one' })))
    const begun: string[] = []
    const end = Promise.withResolvers<void>()
    const { worker } = start(
      ({ data }) => {
        begun.push((data as { to: string }).to)
        return end.promise
      },
      // One place is kept for owners that have none.
      { maxHeld: 5, isShared: true },
    )
    await until(() => begun.length === 4)
    await add(...['e', 'f'].map((to) => ({ to, group: 'greedy/one' })), { to: 'g', group: 'modest/one' })
    await until(() => begun.length > 4)
    expect(begun.slice(4)).toEqual(['g'])
    end.resolve()
    await until(() => begun.length === 7)
    await worker.stop(1_000)
  })

  test('begins what is of another group although one group is in front, however many jobs it has', async () => {
    await add(...Array.from({ length: 300 }, (_, index) => ({ to: `g${index}`, group: 'greedy/one' })))
    await add({ to: 'other', group: 'modest/one' })
    const begun: string[] = []
    const { worker } = start(
      async ({ data }) => {
        begun.push((data as { to: string }).to)
        // One ends after the other, so that its group is never quite full.
        await new Promise((resolve) => setTimeout(resolve, 2 * begun.length))
      },
      { maxHeld: 20, maxHeldPerGroup: 4 },
    )
    await until(() => begun.includes('other'))
    await worker.stop(5_000)
    expect(begun.indexOf('other')).toBeLessThan(40)
  })

  test('puts off what is above the share of an owner, also where it has many groups', async () => {
    await add(...Array.from({ length: 12 }, (_, index) => ({ to: `g${index}`, group: `greedy/${index}` })))
    const begun: string[] = []
    const end = Promise.withResolvers<void>()
    const { worker } = start(
      ({ data }) => {
        begun.push((data as { to: string }).to)
        return end.promise
      },
      { maxHeld: 6, isShared: true },
    )
    await until(() => begun.length === 5)
    await add({ to: 'other', group: 'modest/one' })
    await until(() => begun.length > 5)
    expect(begun.slice(5)).toEqual(['other'])
    const { rows } = await service.sql.query(
      `select state, retry_count, started_on from jobs.job_common where state <> 'active' group by 1, 2, 3`,
    )
    expect(rows).toEqual([{ state: 'created', retry_count: 0, started_on: null }])
    end.resolve()
    await until(async () => {
      await service.sql.query(`update jobs.job_common set start_after = now() where state = 'created'`)
      return begun.length === 13
    })
    await worker.stop(5_000)
  })

  test('gives a job back that fails, and logs it', async () => {
    await add({ to: 'anna' })
    const { worker, outcomes } = start(() => Promise.reject(new Error('no stamps')))
    await until(() => outcomes.includes('failed'))
    await worker.stop(1_000)
    expect(service.logLines).toContainEqual(expect.objectContaining({ msg: 'job failed', queue: 'letters' }))
    const { rows } = await service.sql.query('select state from jobs.job_common')
    expect(rows).toEqual([{ state: 'retry' }])
  })

  test('waits for its jobs when it stops, and gives back those that take too long', async () => {
    await add({ to: 'quick' }, { to: 'slow' })
    const finish = Promise.withResolvers<void>()
    const begun = new Set<string>()
    const { worker, outcomes } = start(({ data, signal }) => {
      const { to } = data as { to: string }
      begun.add(to)
      return to === 'quick'
        ? finish.promise
        : new Promise((resolve) => signal.addEventListener('abort', () => resolve()))
    })
    await until(() => begun.size === 2)
    const stopped = worker.stop(200)
    finish.resolve()
    await stopped
    expect(outcomes.toSorted()).toEqual(['done', 'given_back'])
    const { rows } = await service.sql.query("select data->>'to' as letter, state from jobs.job_common")
    expect(rows).toEqual([{ letter: 'slow', state: 'retry' }])
  })
})

describe('the tables of jobs', () => {
  test('are those of the installed release of pg-boss', async () => {
    const boss = new PgBoss({ connectionString: service.database.url, schema: 'jobs', migrate: false })
    boss.on('error', () => undefined)
    await boss.start()
    try {
      const { ok, ...report } = (await boss.detectSchemaDrift()) as { ok?: boolean }
      expect({ ok, report }).toMatchObject({ ok: true })
    } finally {
      await boss.stop({ graceful: false })
    }
  })

  test('serve a role that makes no tables', async () => {
    const role = `jobs_${process.pid}`
    const admin = new Client({ connectionString: service.database.url })
    await admin.connect()
    await admin.query(`create role ${role} login`)
    const url = new URL(service.database.url)
    url.username = role
    const database = createDatabase({
      url: url.href,
      poolSize: 2,
      statementTimeoutMs: 60_000,
      acquireTimeoutMs: 60_000,
      log: service.world.log,
    })
    const own = createJobs({ pool: database.pool, log: service.world.log })
    try {
      await grantPrivileges(admin, role)
      await expect(database.pool.query('create table jobs.mine (id int)')).rejects.toThrow(
        'permission denied',
      )
      await database.db.transaction().execute((tx) => own.enqueue(tx, 'letters', [{ data: { to: 'x' } }]))
      await own.supervise()
      const claims = await own.fetch('letters', { count: 1, maxPerGroup: 5 })
      expect(await own.touch('letters', claims)).toHaveProperty('size', 1)
      expect(await own.finish('letters', claims)).toHaveProperty('size', 1)
    } finally {
      await own.close()
      await database.close()
      await admin.query(`drop owned by ${role}`)
      await admin.query(`drop role ${role}`)
      await admin.end()
    }
  })
})
