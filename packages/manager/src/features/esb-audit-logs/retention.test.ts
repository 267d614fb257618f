// The job that makes and drops the months of the log.
import { Client } from 'pg'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import { seedCall, seedCaller } from '../../../test/kit/esb-calls.ts'
import { seedProject } from '../../../test/kit/seed.ts'

const dayMs = 86_400_000
const services: TestApp[] = []
let now = new Date()

/** A service whose clock the test sets; with a database, another replica. */
async function start(days?: string, database?: TestApp['database']): Promise<TestApp> {
  const service = await startTestApp({
    env: { SVC_ESB_AUDIT_RETENTION_DAYS: days },
    world: { clock: { now: () => now } },
    ...(database === undefined ? {} : { database }),
  })
  services.unshift(service)
  return service
}
beforeEach(() => {
  now = new Date()
})
// Replicas go before the service that owns their database.
afterAll(async () => {
  for (const service of services) await service.close()
})

const run = (service: TestApp): Promise<void> => {
  const job = service.app.jobs.find(({ name }) => name === 'esb-audit-retention')
  expect(job?.everyMs).toBe(3_600_000)
  return job?.run() ?? Promise.reject(new Error('there is no such job'))
}
const monthsOf = async ({ sql }: TestApp): Promise<string[]> => {
  const { rows } = await sql.query<{ month: string }>(
    `select right(inhrelid::regclass::text, 7) as month from pg_inherits
     where inhparent = 'esb_audit_logs'::regclass order by month`,
  )
  return rows.map(({ month }) => month)
}
const addMonth = async ({ sql }: TestApp, from: string, to: string): Promise<void> => {
  await sql.query(
    `create table esb_audit_logs_${from.slice(0, 7).replace('-', '_')} partition of esb_audit_logs
     for values from ('${from} 00:00:00+00') to ('${to} 00:00:00+00')`,
  )
}
/** This month, or one so many months from it. */
const month = (offset: number): string => {
  const today = new Date()
  const first = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + offset))
  return first.toISOString().slice(0, 7).replace('-', '_')
}
const present = [-1, 0, 1, 2].map(month)
const linesAbout = ({ logLines }: TestApp) => logLines.filter(({ msg }) => /ESB audit log/.test(String(msg)))

describe('months of the log', () => {
  test('go when their last call is 90 days old, and not a moment earlier', async () => {
    const service = await start()
    await addMonth(service, '2020-01-01', '2020-02-01')
    await addMonth(service, '2020-02-01', '2020-03-01')
    const caller = await seedCaller(service.sql, await seedProject(service.sql, 'main'))
    for (const createdAt of ['2020-01-31T23:59:59.999Z', '2020-02-01T00:00:00Z'])
      await seedCall(service.sql, caller, { createdAt })
    const end = Date.parse('2020-02-01T00:00:00Z')
    now = new Date(end + 90 * dayMs - 1)
    await run(service)
    expect(await monthsOf(service)).toEqual(['2020_01', '2020_02', ...present])
    expect(linesAbout(service)).toEqual([])
    now = new Date(end + 90 * dayMs)
    await run(service)
    expect(await monthsOf(service)).toEqual(['2020_02', ...present])
    expect(linesAbout(service)).toMatchObject([
      { partitions: 1, oldest: '2020-02-01T00:00:00.000Z', msg: 'months of the ESB audit log dropped' },
    ])
    const { rows } = await service.sql.query('select created_at from esb_audit_logs')
    expect(rows).toEqual([{ created_at: new Date('2020-02-01T00:00:00Z') }])
  })

  test('stay as long as the setting says', async () => {
    const service = await start('3650')
    await addMonth(service, '2020-01-01', '2020-02-01')
    now = new Date(Date.parse('2020-02-01T00:00:00Z') + 3_650 * dayMs - 1)
    await run(service)
    expect(await monthsOf(service)).toContain('2020_01')
    now = new Date(now.getTime() + 1)
    await run(service)
    expect(await monthsOf(service)).toEqual(present)
    for (const days of ['30', '3651', '0', 'many'])
      await expect(start(days)).rejects.toThrow(
        /SVC_ESB_AUDIT_RETENTION_DAYS must be a whole number from 31 to 3650/,
      )
  })

  test('that calls are about to need are made', async () => {
    const service = await start()
    for (const name of [month(1), month(2)]) await service.sql.query(`drop table esb_audit_logs_${name}`)
    await run(service)
    expect(await monthsOf(service)).toEqual(present)
    expect(linesAbout(service)).toMatchObject([{ partitions: 2, msg: 'months of the ESB audit log made' }])
    await run(service)
    expect(linesAbout(service)).toHaveLength(1)
  })

  test('are dropped once by replicas that come at the same moment', async () => {
    const first = await start()
    const replicas = [first, await start(undefined, first.database), await start(undefined, first.database)]
    for (let round = 0; round < 10; round++) {
      await addMonth(first, '2020-01-01', '2020-02-01')
      await first.sql.query(`drop table esb_audit_logs_${month(2)}`)
      await Promise.all(replicas.map(run))
      expect(await monthsOf(first)).toEqual(present)
    }
    const lines = replicas.flatMap(linesAbout)
    expect(lines.filter(({ msg }) => String(msg).endsWith('dropped'))).toHaveLength(10)
    expect(lines.filter(({ msg }) => String(msg).endsWith('made'))).toHaveLength(10)
  })

  test('stay while someone reads the log, and calls wait two seconds at most; the next run drops them', async () => {
    const service = await start()
    await addMonth(service, '2020-01-01', '2020-02-01')
    const caller = await seedCaller(service.sql, await seedProject(service.sql, 'busy'))
    const reader = new Client({ connectionString: service.database.url })
    await reader.connect()
    await reader.query('begin')
    await reader.query('select from esb_audit_logs')
    const begun = performance.now()
    const failure = run(service).then(
      () => null,
      (error: unknown) => error,
    )
    for (let isWaiting = false; !isWaiting;) {
      const { rowCount } = await service.sql.query(
        "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      )
      isWaiting = rowCount === 1
    }
    await seedCall(service.sql, caller)
    expect(performance.now() - begun).toBeLessThan(4_000)
    expect(await failure).toMatchObject({ code: '55P03' })
    expect(await monthsOf(service)).toContain('2020_01')
    await reader.query('rollback')
    await reader.end()
    await run(service)
    expect(await monthsOf(service)).toEqual(present)
  })
})
