// Tests monthly partitions, with a table that these tests create in addition to those of the service.
import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import { createDatabase } from './database.ts'
import { grantPrivileges } from './privileges.ts'
import { createPartitionsSchedule, preparePartitions } from './partitions.ts'

let service: TestApp
beforeAll(async () => {
  service = await startTestApp()
  await service.sql.query(
    'create table runs (id uuid not null, at timestamptz not null) partition by range (at)',
  )
  await service.sql.query("insert into monthly_partitions (parent, least_days) values ('runs', 7)")
})
afterAll(() => service.close())

const firstOf = (offset: number): Date => {
  const today = new Date()
  return new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + offset))
}
const month = (offset: number): string => firstOf(offset).toISOString().slice(0, 7).replace('-', '_')
const runsOf = (...offsets: number[]): string[] => offsets.map((offset) => `runs_${month(offset)}`)
const partitionsOf = async (parent: string): Promise<string[]> => {
  const { rows } = await service.sql.query<{ name: string }>(
    'select inhrelid::regclass::text as name from pg_inherits where inhparent = $1::regclass order by name',
    [parent],
  )
  return rows.map(({ name }) => name)
}
const addPartition = (name: string, bounds: string) =>
  service.sql.query(`create table ${name} partition of runs ${bounds}`)
const addMonth = (offset: number, name = `runs_${month(offset)}`) =>
  addPartition(
    name,
    `for values from ('${firstOf(offset).toISOString()}') to ('${firstOf(offset + 1).toISOString()}')`,
  )
const runJob = (retentionDays: number, db = service.world.database.db) =>
  createPartitionsSchedule(
    'runs-retention',
    { table: 'runs', retentionDays },
    { db, log: service.world.log },
  ).run()

describe('a table of monthly_partitions', () => {
  test('gets its partitions and loses them, and no other table does', async () => {
    const others = await partitionsOf('esb_audit_logs')
    await addMonth(-4)
    await addMonth(-3)
    await runJob(7)
    expect(await partitionsOf('runs')).toEqual(runsOf(-1, 0, 1, 2))
    expect(await partitionsOf('esb_audit_logs')).toEqual(others)
    expect(service.logLines.filter(({ table }) => table === 'runs')).toMatchObject([
      { table: 'runs', partitions: 4, msg: 'monthly partitions created' },
      { table: 'runs', partitions: 2, retention_days: 7, msg: 'monthly partitions dropped' },
    ])
    const id = randomUUID()
    await service.sql.query('insert into runs values ($1, now())', [id])
    await runJob(7)
    expect((await service.sql.query('select id from runs')).rows).toEqual([{ id }])
  })

  test('keeps what is younger than its least age, and the last two months whatever their age', async () => {
    for (const days of [6, 0, -1])
      await expect(runJob(days)).rejects.toThrow('runs is kept for 7 days at least')
    await expect(service.sql.query("select partitions_drop_expired('runs', null)")).rejects.toThrow(
      'runs is kept for 7 days at least',
    )
    // Each table has its own minimum age.
    await expect(service.sql.query("select partitions_drop_expired('esb_audit_logs', 7)")).rejects.toThrow(
      'esb_audit_logs is kept for 31 days at least',
    )
    await service.sql.query("update monthly_partitions set least_days = 1 where parent = 'runs'")
    await runJob(1)
    expect(await partitionsOf('runs')).toEqual(runsOf(-1, 0, 1, 2))
  })

  test('loses partitions by their bounds, not by their names; one without an upper bound stays', async () => {
    await addMonth(-3, 'runs_9999_12')
    await addMonth(-2, '"Runs; odd"')
    await addPartition('runs_2020_01', 'default')
    await addPartition('runs_2020_02', `for values from ('2100-01-01') to (maxvalue)`)
    await runJob(3_000)
    expect(await partitionsOf('runs')).toEqual(expect.arrayContaining(['runs_9999_12', '"Runs; odd"']))
    // Session settings change how PostgreSQL prints the bounds. The result must not depend on them.
    const odd = new Client({ connectionString: service.database.url })
    await odd.connect()
    await odd.query("set datestyle = 'German'; set timezone = 'Pacific/Kiritimati'")
    await odd.query("select partitions_drop_expired('runs', 32)")
    await odd.end()
    expect(await partitionsOf('runs')).not.toContain('runs_9999_12')
    const left = await partitionsOf('runs')
    expect(left).toEqual(expect.arrayContaining(['runs_2020_01', 'runs_2020_02', ...runsOf(-1, 0, 1, 2)]))
    for (const name of ['"Runs; odd"', 'runs_2020_01', 'runs_2020_02'])
      await service.sql.query(`drop table if exists ${name}`)
  })

  test('has its partitions made for a year at most', async () => {
    for (const months of [13, 2_000_000_000, -1, null])
      await expect(service.sql.query("select partitions_prepare('runs', $1)", [months])).rejects.toThrow(
        'partitions are made for 0 to 12 months ahead',
      )
  })
})

describe('any other name', () => {
  test('is refused, and nothing comes or goes', async () => {
    await service.sql.query('create table secrets (at timestamptz) partition by range (at)')
    await service.sql.query(
      "create table secrets_2020_01 partition of secrets for values from ('2020-01-01') to ('2020-02-01')",
    )
    const tables = async () =>
      (await service.sql.query("select oid from pg_class where relkind in ('r', 'p') order by oid")).rows
    const before = await tables()
    const hostile = [
      'secrets',
      'public.runs',
      'RUNS',
      '"runs"',
      'runs ',
      '',
      'audit_logs',
      'runs_2020_01',
      null,
    ]
    const injected = ['runs; drop table users', "runs' or true --", 'runs"; drop table users; --']
    for (const name of hostile.concat(injected))
      for (const call of ['partitions_prepare($1, 2)', 'partitions_drop_expired($1, 3000)'])
        await expect(service.sql.query(`select ${call}`, [name])).rejects.toThrow(
          'no such table is partitioned by month',
        )
    expect(await tables()).toEqual(before)
  })

  test('of a form that would make odd partitions cannot be listed', async () => {
    for (const parent of ['Runs', 'a b', 'a"b', '', '_x', 'a'.repeat(56)])
      await expect(
        service.sql.query('insert into monthly_partitions (parent, least_days) values ($1, 31)', [parent]),
      ).rejects.toThrow(/monthly_partitions_parent_form/)
  })
})

describe('a role without rights to make or drop tables', () => {
  const role = `partitions_${randomUUID().slice(0, 8)}`
  let app: Client
  let url: URL
  beforeAll(async () => {
    const admin = new Client({ connectionString: service.database.url })
    await admin.connect()
    await admin.query(`create role ${role} login`)
    await grantPrivileges(admin, role)
    await admin.end()
    url = new URL(service.database.url)
    url.username = role
    app = new Client({ connectionString: url.href })
    await app.connect()
  })
  afterAll(async () => {
    await app.end()
    await service.sql.query(`drop owned by ${role}`)
    await service.sql.query(`drop role ${role}`)
  })

  test('runs the job', async () => {
    await addMonth(-5)
    await service.sql.query(`drop table ${runsOf(2)[0]}`)
    await expect(app.query('create table public.own (id uuid)')).rejects.toThrow(/permission denied/)
    await expect(app.query(`drop table ${runsOf(-5)[0]}`)).rejects.toThrow(/must be owner/)
    const database = createDatabase({
      url: url.href,
      poolSize: 1,
      statementTimeoutMs: 5_000,
      acquireTimeoutMs: 5_000,
      log: service.world.log,
    })
    await runJob(31, database.db)
    expect(await preparePartitions(database.db.write, 'runs')).toBe(0)
    await database.close()
    expect(await partitionsOf('runs')).toEqual(runsOf(-1, 0, 1, 2))
  })

  test('does not say which tables the functions act on, or how long they are kept', async () => {
    for (const change of [
      "insert into monthly_partitions (parent, least_days) values ('secrets', 1)",
      'update monthly_partitions set least_days = 1',
      'delete from monthly_partitions',
    ])
      await expect(app.query(change)).rejects.toThrow('only the owner changes monthly_partitions')
    await expect(app.query("select partitions_drop_expired('secrets', 31)")).rejects.toThrow(
      'no such table is partitioned by month',
    )
  })

  test('without being granted them has no use of the functions', async () => {
    await service.sql.query(`revoke execute on all functions in schema public from ${role}`)
    for (const call of ["partitions_prepare('runs', 2)", "partitions_drop_expired('runs', 31)"])
      await expect(app.query(`select ${call}`)).rejects.toThrow(/permission denied for function/)
  })

  test('is not fooled by tables and functions of its own', async () => {
    await service.sql.query(`grant execute on all functions in schema public to ${role}`)
    await app.query('create temporary table monthly_partitions (parent text, least_days int, fillfactor int)')
    await app.query("insert into pg_temp.monthly_partitions values ('secrets', 1, 100)")
    await app.query('set search_path = pg_temp, public')
    await expect(app.query("select partitions_drop_expired('secrets', 31)")).rejects.toThrow(
      'no such table is partitioned by month',
    )
  })
})
