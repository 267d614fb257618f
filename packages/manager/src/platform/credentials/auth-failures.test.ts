// Tests that failed authentications are counted per minute rather than per attempt, and that no count is lost below
// the row limit.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { lineCollector } from '../../../test/kit/app.ts'
import { runSchedule } from '../../../test/kit/schedules.ts'
import { useProject } from '../../../test/kit/project.ts'
import { createLog } from '../log/log.ts'
import { type AuthFailures, createAuthFailures } from './auth-failures.ts'

const { service } = useProject()
const minuteMs = 60_000
/** Start of the current minute. */
let now = 0
const clock = { now: (): Date => new Date(now) }
const dropped = { count: 0, inc: (by = 1): void => void (dropped.count += by) }
const metrics = { authFailuresDropped: dropped as never }
const lines: Record<string, unknown>[] = []
const log = createLog('info', lineCollector(lines))
let failures: AuthFailures
beforeAll(() => {
  now = Math.floor(Date.now() / minuteMs) * minuteMs
})
beforeEach(async () => {
  Object.assign(dropped, { count: 0 })
  await service.sql.query('delete from auth_failures')
  failures = createAuthFailures({ database: service.world.database, clock, log, metrics })
})
afterAll(() => failures.close())

const stored = async () =>
  (
    await service.sql.query<{ minute: Date; event: string; kind: string; client: string; count: string }>(
      'select minute, event, kind, client, count from auth_failures order by minute, event, kind, client',
    )
  ).rows.map(({ minute, event, kind, client, count }) => [
    minute.getTime(),
    event,
    kind,
    client,
    Number(count),
  ])

describe('counts of failed authentications', () => {
  test('10,000 failures of 3 networks are 3 rows a minute', async () => {
    for (let i = 0; i < 10_000; i++) failures.fail('pat', `192.0.2.${i % 3}`)
    await failures.flush()
    expect(await stored()).toEqual([
      [now, 'failure', 'pat', '192.0.2.0', 3_334],
      [now, 'failure', 'pat', '192.0.2.1', 3_333],
      [now, 'failure', 'pat', '192.0.2.2', 3_333],
    ])
    // Later failures in the same minute add to the same rows, even if a different process counts them.
    const other = createAuthFailures({ database: service.world.database, clock, log, metrics })
    for (const one of [failures, other]) one.fail('pat', '192.0.2.1')
    await failures.flush()
    await other.close()
    expect((await stored()).map((row) => row.at(-1))).toEqual([3_334, 3_335, 3_333])
    await failures.close()
  })

  test('5,000 networks are at most 1,001 rows a minute, however often they are written, and no count is lost', async () => {
    for (let i = 0; i < 10_000; i++) {
      failures.fail('machine_token', `2001:db8:${(i % 5_000).toString(16)}::/64`)
      if (i % 2_500 === 0) await failures.flush()
    }
    await failures.flush()
    const rows = await stored()
    expect(rows).toHaveLength(1_001)
    expect(rows.reduce((sum, row) => sum + Number(row[4]), 0)).toBe(10_000)
    expect(rows.find((row) => row[3] === 'others')?.[4]).toBe(8_000)
    // Failures of a different kind, or in the next minute, have separate rows.
    failures.fail('basic', '192.0.2.9')
    now += minuteMs
    failures.fail('machine_token', '2001:db8:1387::/64')
    await failures.close()
    expect((await stored()).slice(-1)).toEqual([[now, 'failure', 'machine_token', '2001:db8:1387::/64', 1]])
    expect(await stored()).toHaveLength(1_003)
    now -= minuteMs
  })

  test('a lockout keeps its longest block; texts are cut', async () => {
    failures.lockout('basic', 'x'.repeat(5_000), 60_000)
    failures.lockout('basic', 'x'.repeat(5_000), 120_000.5)
    failures.lockout('basic', '', 1)
    await failures.close()
    const { rows } = await service.sql.query(
      'select client, count, longest_block_ms from auth_failures order by client',
    )
    expect(rows).toEqual([
      { client: 'unknown', count: '1', longest_block_ms: '1' },
      { client: 'x'.repeat(100), count: '2', longest_block_ms: '120001' },
    ])
  })

  test('while the database is away counts wait within a bound, and what is over it is counted as dropped', async () => {
    await service.sql.query('alter table auth_failures rename to away')
    for (let minute = 0; minute < 30; minute++) {
      now += minuteMs
      for (let i = 0; i < 1_000; i++) failures.fail('identity', `10.0.${i >> 8}.${i & 255}`)
      if (minute % 10 === 0) await failures.flush()
    }
    expect(lines.at(-1)).toMatchObject({ msg: 'cannot record failed authentications' })
    expect(dropped.count).toBe(10_000)
    await service.sql.query('alter table away rename to auth_failures')
    await failures.close()
    const { rows } = await service.sql.query(
      'select count(*)::int as rows, sum(count)::int as failures from auth_failures',
    )
    expect(rows).toEqual([{ rows: 20_000, failures: 20_000 }])
    now -= 30 * minuteMs
  })
})

describe('a clock that was wrong for a moment', () => {
  test('loses its own counts and those of nobody else, and says so', async () => {
    const right = now
    failures.fail('pat', '192.0.2.1')
    for (const wrong of ['2001-01-01T00:00:00Z', '2999-01-01T00:00:00Z']) {
      now = Date.parse(wrong)
      for (let i = 0; i < 3; i++) failures.fail('pat', '192.0.2.2')
    }
    now = right
    failures.fail('basic', '192.0.2.3')
    await failures.flush()
    expect(await stored()).toEqual([
      [now, 'failure', 'basic', '192.0.2.3', 1],
      [now, 'failure', 'pat', '192.0.2.1', 1],
    ])
    expect(dropped.count).toBe(6)
    expect(lines.at(-1)).toMatchObject({
      msg: 'dropped failed authentications with an implausible timestamp',
      rows: 2,
    })
    // The next flush does not retry the dropped rows.
    failures.fail('pat', '192.0.2.1')
    await failures.close()
    expect((await stored()).map((row) => row.at(-1))).toEqual([1, 2])
    expect(dropped.count).toBe(6)
  })

  test('what waits while no partition is there is written once there is one', async () => {
    const month = new Date(now).toISOString().slice(0, 7).replace('-', '_')
    const { rows } = await service.sql.query<{ name: string }>(
      "select inhrelid::regclass::text as name from pg_inherits where inhparent = 'auth_failures'::regclass",
    )
    const names = rows.map(({ name }) => name)
    expect(names.join()).toContain(month)
    for (const name of names) await service.sql.query(`drop table ${name}`)
    failures.fail('pat', '192.0.2.1')
    await failures.close()
    expect(await stored()).toEqual([[now, 'failure', 'pat', '192.0.2.1', 1]])
    expect(dropped.count).toBe(0)
  })
})

describe('retention of counts', () => {
  test('a month of them goes once it is older than the setting says, by the clock of the database', async () => {
    const months = async (): Promise<number> =>
      (await service.sql.query("select from pg_inherits where inhparent = 'auth_failures'::regclass"))
        .rowCount as number
    const before = await months()
    // The retention setting is 400 days.
    const day = (ago: number): string => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)
    for (const [name, from, to] of [
      ['old', day(500), day(450)],
      ['young', day(350), day(300)],
    ])
      await service.sql.query(
        `create table auth_failures_${name} partition of auth_failures for values from ('${from}') to ('${to}')`,
      )
    await runSchedule(service, 'auth-failure-retention')
    expect(await months()).toBe(before + 1)
    const { rows } = await service.sql.query(
      "select to_regclass('auth_failures_old') as old, to_regclass('auth_failures_young') as young",
    )
    expect(rows).toEqual([{ old: null, young: 'auth_failures_young' }])
  })
})
