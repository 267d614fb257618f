// Tests that `migrate up` completes an index that a migration adds to a partitioned table. The tests create their own
// table.
import { Client } from 'pg'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type TestDatabase, createScratchDatabase } from '../../../test/kit/databases.ts'
import { migrateUp } from './migrate.ts'

let database: TestDatabase
let client: Client
beforeAll(async () => {
  database = await createScratchDatabase()
  client = new Client({ connectionString: database.url })
  await client.connect()
})
afterAll(async () => {
  await client.end()
  await database.drop()
})
beforeEach(async () => {
  await client.query(`drop table if exists runs;
    create table runs (at integer not null, kind text) partition by range (at);
    create table runs_1 partition of runs for values from (1) to (2);
    create table runs_2 partition of runs for values from (2) to (3);
    insert into runs select 1, 'a' from generate_series(1, 10);
    create index runs_kind_idx on only runs (kind, at) where kind is not null`)
})

const migrate = async (): Promise<string[]> => {
  const said: string[] = []
  await migrateUp(database.url, (line) => void said.push(line))
  return said
}
/** Returns whether each index of the table and its partitions is valid. */
const indexes = async (): Promise<Record<string, boolean>> => {
  const { rows } = await client.query<{ name: string; valid: boolean }>(
    `select indexrelid::regclass::text as name, indisvalid as valid from pg_index
     where indrelid::regclass::text like 'runs%' order by name`,
  )
  return Object.fromEntries(rows.map(({ name, valid }) => [name, valid]))
}
const complete = { runs_1_kind_idx: true, runs_2_kind_idx: true, runs_kind_idx: true }
const building = 'building runs_kind_idx on runs_1 without blocking traffic'

test('the index of the call log by request id is complete in a new database', async () => {
  const { rows } = await client.query(
    `select indisvalid as valid from pg_index where indexrelid = 'esb_audit_logs_request_id_idx'::regclass`,
  )
  expect(rows).toEqual([{ valid: true }])
})

test('partitions that were there get their part, as the index is defined, and those with rows are named', async () => {
  expect(await indexes()).toEqual({ runs_kind_idx: false })
  expect(await migrate()).toEqual([building])
  expect(await indexes()).toEqual(complete)
  const { rows } = await client.query(`select pg_get_indexdef('runs_1_kind_idx'::regclass) as definition`)
  expect(rows).toEqual([
    {
      definition:
        'CREATE INDEX runs_1_kind_idx ON public.runs_1 USING btree (kind, at) WHERE (kind IS NOT NULL)',
    },
  ])
  // A complete index needs no further work.
  expect(await migrate()).toEqual([])
})

test('a partition that is made in between has its part already', async () => {
  await client.query('create table runs_3 partition of runs for values from (3) to (4)')
  await migrate()
  expect(await indexes()).toEqual({ ...complete, runs_3_kind_at_idx: true })
})

test('an attempt that was cut short is carried on: what is unfinished is built again, what is built is attached', async () => {
  await client.query('create index runs_1_kind_idx on runs_1 (kind, at) where kind is not null')
  await client.query('create index runs_2_kind_idx on runs_2 (kind, at) where kind is not null')
  await client.query(`update pg_index set indisvalid = false where indexrelid = 'runs_1_kind_idx'::regclass`)
  const built = async () =>
    (await client.query<{ oid: number }>(`select 'runs_2_kind_idx'::regclass::oid as oid`)).rows[0]?.oid
  const before = await built()
  expect(await migrate()).toEqual([building])
  expect(await indexes()).toEqual(complete)
  expect(await built()).toBe(before)
})

test('writers go on while a part is built', async () => {
  const writer = new Client({ connectionString: database.url })
  await writer.connect()
  await writer.query('begin')
  await writer.query(`insert into runs values (1, 'b')`)
  const done = migrate()
  // The build waits for the transaction that started before it. This wait exceeds the lock timeout of migrations.
  await expect.poll(async () => (await indexes())['runs_1_kind_idx'], { timeout: 60_000 }).toBe(false)
  await client.query(`set lock_timeout = '1s'; insert into runs values (1, 'c'); reset lock_timeout`)
  await writer.query('commit')
  await writer.end()
  expect(await done).toEqual([building])
  expect(await indexes()).toEqual(complete)
})
