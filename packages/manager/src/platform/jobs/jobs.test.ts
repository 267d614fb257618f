// Durable jobs, in queues that only these tests use.
import { Client } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import { createDatabase } from '../postgres/database.ts'
import type { Tx } from '../postgres/handles.ts'
import { grantPrivileges } from '../postgres/privileges.ts'
import { type Jobs, createJobs } from './jobs.ts'
import { type RunningJob, type JobOutcome, type Queue, Worker } from './worker.ts'

let service: TestApp
let jobs: Jobs
beforeAll(async () => {
  service = await startTestApp()
  jobs = service.app.jobs
})
beforeEach(() => service.sql.query('delete from queued_jobs'))
afterAll(() => service.close())

const inTransaction = <T>(work: (tx: Tx) => Promise<T>): Promise<T> =>
  service.world.database.db.transaction(work)
const add = (...letters: { to: string; group?: string; delayMs?: number }[]) =>
  inTransaction((tx) =>
    jobs.enqueue(
      tx,
      'letters',
      letters.map(({ to, group = 'x/any', ...rest }) => ({
        data: { to },
        owner: group.slice(0, group.indexOf('/')),
        group,
        ...rest,
      })),
    ),
  )
const fetchAll = async (maxRunningPerGroup = 100) =>
  (await jobs.fetch('letters', { count: 100, maxRunningPerGroup })).jobs
const addressees = async (fetched: Promise<{ data: unknown }[]>): Promise<string[]> =>
  (await fetched).map(({ data }) => (data as { to: string }).to).toSorted()
const stored = async (): Promise<number> =>
  Number((await service.sql.query('select count(*) from queued_jobs')).rows[0].count)
/** Makes hidden jobs due, as if their delay or lease had expired. */
const passTime = (condition = 'true') =>
  service.sql.query(
    `update queued_jobs set hidden_until = now() where hidden_until is not null and ${condition}`,
  )

describe('a job', () => {
  test('exists exactly when the transaction that adds it commits', async () => {
    await expect(
      inTransaction(async (tx) => {
        await jobs.enqueue(tx, 'letters', [{ data: { to: 'nobody' }, owner: 'x', group: 'x/any' }])
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
      'select round(extract(epoch from hidden_until - waiting_since)) as wait from queued_jobs where not is_held',
    )
    expect(Number(rows[0].wait)).toBe(60)
    await jobs.wake()
    expect(await fetchAll()).toEqual([])
    await passTime('not is_held')
    expect([...(await jobs.wake())]).toEqual(['letters'])
    expect(await addressees(fetchAll())).toEqual(['later'])
  })

  test('ends with the transaction of its result, or not at all', async () => {
    await add({ to: 'anna' })
    const claims = await fetchAll()
    await expect(
      inTransaction(async (tx) => {
        expect([...(await jobs.finish(claims, tx))]).toEqual(claims.map(({ id }) => id))
        throw new Error('the result is not kept')
      }),
    ).rejects.toThrow('the result is not kept')
    expect(await stored()).toBe(1)
    await inTransaction((tx) => jobs.finish(claims, tx))
    expect(await stored()).toBe(0)
  })

  test('of a lost process is handed out again, and the former one can neither end nor touch it', async () => {
    await add({ to: 'anna' })
    const former = await fetchAll()
    await jobs.wake()
    expect(await fetchAll(), 'its lease has not expired').toEqual([])
    await passTime()
    await jobs.wake()
    const present = await fetchAll()
    expect(present).toMatchObject([{ data: { to: 'anna' }, claims: 2 }])
    expect([...(await jobs.touch(former))]).toEqual([])
    expect([...(await jobs.finish(former))]).toEqual([])
    expect([...(await jobs.touch(present))]).toHaveLength(1)
    expect([...(await jobs.finish(present))]).toHaveLength(1)
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
    await jobs.finish(first)
    expect(await fetchAll(2)).toHaveLength(1)
  })

  test('of each group has its turn, and owners can be left out', async () => {
    const groups = ['a/1', 'a/2', 'b/1', 'c/1']
    await add(...groups.flatMap((group) => ['1', '2', '3'].map((to) => ({ to: `${group} ${to}`, group }))))
    const wanted = { count: 3, maxRunningPerGroup: 2 }
    const first = await jobs.fetch('letters', wanted)
    expect(await addressees(Promise.resolve(first.jobs))).toEqual(['a/1 1', 'a/1 2', 'a/2 1'])
    expect(first.next).toEqual({ owner: 'a', group: 'a/2' })
    const second = await jobs.fetch('letters', { ...wanted, after: first.next })
    expect(await addressees(Promise.resolve(second.jobs))).toEqual(['b/1 1', 'b/1 2', 'c/1 1'])
    const rest = await jobs.fetch('letters', { ...wanted, excludedOwners: ['a'] })
    expect(await addressees(Promise.resolve(rest.jobs))).toEqual(['c/1 2'])
    expect(rest.next).toBeNull()
  })
})

describe('a worker', () => {
  type Run = (job: RunningJob) => Promise<void>
  const start = (run: Run, more: Partial<Queue> = {}) => {
    const outcomes: JobOutcome[] = []
    const queue: Queue = {
      name: 'letters',
      maxRunning: 10,
      maxRunningPerGroup: 100,
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
      { maxRunning: 4 },
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
      // One slot is reserved for owners that have no running job.
      { maxRunning: 5, isShared: true },
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
        // The jobs end one after another, so that the group keeps falling below its limit.
        await new Promise((resolve) => setTimeout(resolve, 2 * begun.length))
      },
      { maxRunning: 20, maxRunningPerGroup: 4 },
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
      { maxRunning: 6, isShared: true },
    )
    await until(() => begun.length === 5)
    await add({ to: 'other', group: 'modest/one' })
    await until(() => begun.length > 5)
    expect(begun.slice(5)).toEqual(['other'])
    // A job that is claimed and then postponed starts late, so jobs above the share are not even claimed.
    const { rows } = await service.sql.query('select claims from queued_jobs where not is_held group by 1')
    expect(rows).toEqual([{ claims: 0 }])
    end.resolve()
    await until(async () => {
      await passTime('not is_held')
      await jobs.wake()
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
    const { rows } = await service.sql.query('select is_held, hidden_until > now() as waits from queued_jobs')
    expect(rows).toEqual([{ is_held: false, waits: true }])
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
    const { rows } = await service.sql.query("select data->>'to' as letter, hidden_until from queued_jobs")
    expect(rows).toEqual([{ letter: 'slow', hidden_until: null }])
  })
})

describe('the previous release', () => {
  const queue = 'trigger-attempts'
  /** Enqueues a job as the previous release does; `columns` overrides defaults. */
  const addFormer = (to: string, columns: Record<string, string> = {}) =>
    service.sql.query(
      `insert into jobs.job_common (name, data, group_id${Object.keys(columns)
        .map((name) => `, ${name}`)
        .join('')})
       values ($1, $2, 'x/one'${Object.values(columns)
         .map((value) => `, ${value}`)
         .join('')})`,
      [queue, { to }],
    )
  const former = async (): Promise<string[]> => {
    const { rows } = await service.sql.query("select data->>'to' as letter from jobs.job_common order by 1")
    return rows.map(({ letter }) => letter as string)
  }
  /** Every process of the previous release does this every 3 s. */
  const superviseFormer = () => service.sql.query('update jobs.queue set monitor_claim_on = now()')
  beforeEach(() => service.sql.query('delete from jobs.job_common'))

  test('leaves its jobs to this one when they are due, or when its process is lost', async () => {
    await addFormer('due')
    await addFormer('later', { start_after: `now() + interval '1 minute'` })
    await addFormer('held', { state: `'active'`, heartbeat_on: 'now()' })
    await addFormer('lost', { state: `'active'`, heartbeat_on: `now() - interval '14 seconds'` })
    await jobs.adopt()
    expect(await former()).toEqual(['held', 'later'])
    const { jobs: adopted } = await jobs.fetch(queue, { count: 10, maxRunningPerGroup: 10 })
    expect(adopted).toMatchObject([
      { owner: 'x', group: 'x/one', claims: 1 },
      { owner: 'x', group: 'x/one' },
    ])
    expect(await addressees(Promise.resolve(adopted))).toEqual(['due', 'lost'])
  })

  test('takes over jobs that no process of this one fetches', async () => {
    await inTransaction((tx) =>
      jobs.enqueue(
        tx,
        queue,
        ['held', 'lost', 'waiting'].map((to) => ({ data: { to }, owner: 'x', group: 'x/one' })),
      ),
    )
    const age = `now() - interval '16 seconds'`
    await service.sql.query(
      `update queued_jobs set is_held = true, hidden_until = case when data->>'to' = 'lost' then ${age} else now() end
       where data->>'to' <> 'waiting'`,
    )
    await superviseFormer()
    expect(await former()).toEqual(['lost'])
    await service.sql.query(`update queued_jobs set waiting_since = ${age}`)
    await superviseFormer()
    expect(await former()).toEqual(['lost', 'waiting'])
    const { rows } = await service.sql.query(
      'select distinct state, group_id, policy, heartbeat_seconds, retry_limit from jobs.job_common',
    )
    expect(rows).toEqual([
      { state: 'created', group_id: 'x/one', policy: 'standard', heartbeat_seconds: 10, retry_limit: 1000 },
    ])
    expect(await stored()).toBe(1)
  })
})

describe('the table of jobs', () => {
  test('serves a role that makes no tables', async () => {
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
    const own = createJobs({ run: database.runForJobs })
    try {
      await grantPrivileges(admin, role)
      await expect(database.pools.requests.query('create table mine (id int)')).rejects.toThrow(
        'permission denied',
      )
      await database.db.transaction((tx) =>
        own.enqueue(tx, 'letters', [{ data: { to: 'x' }, owner: 'x', group: 'x/one' }]),
      )
      await own.wake()
      await own.adopt()
      const { jobs: claims } = await own.fetch('letters', { count: 1, maxRunningPerGroup: 5 })
      expect(await own.touch(claims)).toHaveProperty('size', 1)
      expect(await own.finish(claims)).toHaveProperty('size', 1)
    } finally {
      await database.close()
      await admin.query(`drop owned by ${role}`)
      await admin.query(`drop role ${role}`)
      await admin.end()
    }
  })
})
