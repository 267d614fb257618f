// These tests cover the job that creates and drops the monthly partitions of the log.
import { randomUUID } from 'node:crypto'
import { afterAll, describe, expect, test } from 'vitest'
import type { TestApp } from '../../../test/kit/app.ts'
import { headersOf } from '@manager/harness/callers.ts'
import { seedCall, seedCaller } from '../../../test/kit/esb-calls.ts'
import { postQuery } from '@manager/harness/graphql.ts'
import { startProcess } from '@manager/harness/process.ts'
import { addMonth, callDuringRun, readLog, retainingServices, run } from '../../../test/kit/log-months.ts'
import { seedProject } from '@manager/harness/seed.ts'

const dayMs = 86_400_000
const services: TestApp[] = []

const { start } = retainingServices(services)
// Replicas are closed before the service that owns their database.
afterAll(async () => {
  for (const service of services) await service.close()
})

const monthsOf = async ({ sql }: TestApp): Promise<string[]> => {
  const { rows } = await sql.query<{ month: string }>(
    `select right(inhrelid::regclass::text, 7) as month from pg_inherits
     where inhparent = 'esb_audit_logs'::regclass order by month`,
  )
  return rows.map(({ month }) => month)
}
const firstOf = (offset: number): Date => {
  const today = new Date()
  return new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + offset))
}
/** Returns the name of the month at this offset from the current month. */
const month = (offset: number): string => firstOf(offset).toISOString().slice(0, 7).replace('-', '_')
const addMonthAt = (service: TestApp, offset: number): Promise<void> =>
  addMonth(
    service,
    firstOf(offset).toISOString().slice(0, 10),
    firstOf(offset + 1)
      .toISOString()
      .slice(0, 10),
  )
const present = [-1, 0, 1, 2].map(month)
/** Returns the number of whole days since the month ended. */
const daysSinceEnd = (offset: number): number =>
  Math.floor((Date.now() - firstOf(offset + 1).getTime()) / dayMs)
const linesAbout = ({ logLines }: TestApp) =>
  logLines.filter(({ msg }) => String(msg).startsWith('monthly partitions'))

describe('months of the log', () => {
  test('go when their last call is older than the setting says, and not a day earlier', async () => {
    const days = daysSinceEnd(-5)
    const keeping = await start(String(days + 1))
    await addMonthAt(keeping, -5)
    await addMonthAt(keeping, -4)
    const caller = await seedCaller(keeping.sql, await seedProject(keeping.sql, 'main'))
    const kept = firstOf(-4).toISOString()
    for (const createdAt of [new Date(firstOf(-4).getTime() - 1).toISOString(), kept])
      await seedCall(keeping.sql, caller, { createdAt })
    await run(keeping)
    expect(await monthsOf(keeping)).toEqual([month(-5), month(-4), ...present])
    expect(linesAbout(keeping)).toEqual([])
    const dropping = await start(String(days), keeping.database)
    await run(dropping)
    expect(await monthsOf(dropping)).toEqual([month(-4), ...present])
    expect(linesAbout(dropping)).toMatchObject([
      { partitions: 1, retention_days: days, msg: 'monthly partitions dropped' },
    ])
    const { rows } = await dropping.sql.query('select created_at from esb_audit_logs')
    expect(rows).toEqual([{ created_at: new Date(kept) }])
  })

  test('stay for 90 days unless the setting says otherwise', async () => {
    const service = await start()
    // The month before last ended 31 to 92 days ago, and the month five months ago at least 120 days ago.
    for (const offset of [-5, -2]) await addMonthAt(service, offset)
    await run(service)
    expect(await monthsOf(service)).toEqual([...(daysSinceEnd(-2) < 90 ? [month(-2)] : []), ...present])
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
    expect(linesAbout(service)).toMatchObject([
      { table: 'esb_audit_logs', partitions: 2, msg: 'monthly partitions created' },
    ])
    await run(service)
    expect(linesAbout(service)).toHaveLength(1)
  })

  test('[esb-audit.retention] stay when the clock of the process is wrong: the database tells the time', async () => {
    const service = await start()
    for (const offset of [-3, -2]) await addMonthAt(service, offset)
    const expected = await monthsOf(service)
    const shift =
      'const Real = Date, ahead = 400 * 864e5; globalThis.Date = class extends Real { ' +
      'constructor(...a) { if (a.length) super(...a); else super(Real.now() + ahead) } ' +
      'static now() { return Real.now() + ahead } }'
    const ahead = await startProcess(service.database.url, {
      NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(shift)}`,
      SVC_ESB_AUDIT_RETENTION_DAYS: '200',
      SVC_SHUTDOWN_DRAIN_DELAY_MS: '0',
    })
    try {
      const warning = ahead.lines.find((line) => line.includes('the machine clock differs'))
      expect(JSON.parse(warning ?? '{}')).toMatchObject({ level: 'warn' })
      const person = { id: randomUUID(), email: 'late@example.com', name: 'Late' }
      await service.sql.query(
        "insert into users (id, external_name, external_username, external_email, role) values ($1, 'x', 'x', 'x', 'administrator')",
        [person.id],
      )
      const { error } = await postQuery(
        ahead.url,
        headersOf(person),
        'mutation { createProject(input: {name: "Late", slug: "late"}) { id } }',
      )
      expect(error).toBeNull()
      const { rows } = await service.sql.query<{ apart: number }>(
        'select abs(extract(epoch from now() - created_at))::float as apart from audit_logs order by seq desc limit 1',
      )
      expect(rows[0]?.apart).toBeLessThan(60)
    } finally {
      ahead.child.kill('SIGTERM')
      await ahead.exit
    }
    expect(await monthsOf(service)).toEqual(expected)
  })

  test('[esb-audit.retention] stay though the functions of former releases are asked for more: the last two months and 31 days', async () => {
    const service = await start()
    await addMonthAt(service, -2)
    const before = await monthsOf(service)
    for (const days of [30, 0, -1, null])
      await expect(service.sql.query('select esb_audit_logs_drop_expired($1)', [days])).rejects.toThrow(
        'esb_audit_logs is kept for 31 days at least',
      )
    await service.sql.query("select esb_audit_logs_drop_before(now() + interval '100 years')")
    const isDue = daysSinceEnd(-2) >= 31
    expect(await monthsOf(service)).toEqual(isDue ? before.slice(1) : before)
    await service.sql.query('select esb_audit_logs_drop_expired(31)')
    expect(await monthsOf(service)).toEqual(expect.arrayContaining(present))
  })

  test('are dropped once by replicas that come at the same moment', async () => {
    const first = await start()
    const replicas = [first, await start(undefined, first.database), await start(undefined, first.database)]
    for (let round = 0; round < 5; round++) {
      await addMonth(first, '2020-01-01', '2020-02-01')
      await first.sql.query(`drop table esb_audit_logs_${month(2)}`)
      await Promise.all(replicas.map(run))
      expect(await monthsOf(first)).toEqual(present)
    }
    const lines = replicas.flatMap(linesAbout)
    expect(lines.filter(({ msg }) => String(msg).endsWith('dropped'))).toHaveLength(5)
    expect(lines.filter(({ msg }) => String(msg).endsWith('created'))).toHaveLength(5)
  })

  test('stay while someone reads the log, and calls wait for a moment only; the next run drops them', async () => {
    const service = await start()
    await addMonth(service, '2020-01-01', '2020-02-01')
    const caller = await seedCaller(service.sql, await seedProject(service.sql, 'busy'))
    const reader = await readLog(service)
    const { failure } = await callDuringRun(service, caller)
    expect(await failure).toMatchObject({ code: '55P03' })
    expect(await monthsOf(service)).toContain('2020_01')
    await reader.end()
    await run(service)
    expect(await monthsOf(service)).toEqual(present)
  })
})
