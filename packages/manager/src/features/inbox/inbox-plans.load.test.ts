// These tests compare the cost of inbox statements instead of measuring time. The plan, index entries and
// buffer pages of a page, a probe and a mark must not depend on the table size. The inbox grows from a
// thousand rows to a tenth of the table. LOAD_SIZE=full adds a run with a million rows. INBOX_ROWS=10000000
// adds a run with ten million rows, which needs minutes and several gigabytes.
import { Client, Pool } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addPastMonths } from '../../../test/kit/inbox.ts'
import { type TestDatabase, createScratchDatabase } from '../../../test/kit/databases.ts'
import { loadSize } from '@manager/harness/load-sizes.ts'
import { seedMember, seedProject, seedUser } from '@manager/harness/seed.ts'
import { lookupSettings } from '../../platform/postgres/pools.ts'
import type { PreparedStatement } from '../../platform/postgres/prepared.ts'
import { startOfInbox } from './inbox-cursor.pure.ts'
import { markAll, marks, createPageValues, pages, unreadProbe } from './inbox.store.ts'

const sizes = [10_000, loadSize(100_000, 1_000_000)]
// eslint-disable-next-line node/no-process-env -- an option of the test run, not a setting of the service
const largest = Number(process.env['INBOX_ROWS'] ?? 0)
if (largest > 1_000_000) sizes.push(largest)

let database: TestDatabase
let sql: Pool
let client: Client
let place: string[]
beforeAll(async () => {
  database = await createScratchDatabase()
  sql = new Pool({ connectionString: database.url, max: 1 })
  client = new Client({ connectionString: database.url, options: lookupSettings })
  await client.connect()
  await addPastMonths(sql)
  const project = await seedProject(sql, 'main')
  const reader = await seedUser(sql, 'reader')
  await seedMember(sql, reader, 'member', { projectId: project.id, tenantId: project.tenantId })
  place = [project.tenantId, project.applicationId, reader.id]
  await sql.query(`
    create function id_of(at timestamptz, n bigint) returns uuid language sql immutable as $$
      select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7' || lpad(to_hex(n % 4096), 3, '0')
        || '8' || lpad(to_hex(n), 15, '0'))::uuid
    $$`)
})
afterAll(async () => {
  await client.end()
  await sql.end()
  await database.drop()
})

/**
 * Inserts the rows in a number range, spread over 80 days. The reader owns a tenth of the rows, and a third
 * of all rows are unread.
 */
async function fill(from: number, to: number): Promise<void> {
  const built = await dropIndexes()
  // The rows are inserted in parts, because a statement keeps everything that it writes in memory until it ends.
  for (let start = from; start < to; start += 500_000)
    await sql.query(
      `with made as (
        insert into notification_recipients (tenant_id, application_id, user_id, created_at, notification_id, type, read_at)
        select $1, $2, case when n % 10 = 0 then $3::uuid else md5((n % 9973)::text)::uuid end, at, id_of(at, n),
          case when n % 400 = 0 then 'rare' when n % 7 > 0 then 'often' end, case when n % 3 > 0 then now() end
        from (
          select n, date_trunc('milliseconds', now() - random() * interval '80 days') as at
          from generate_series($4::int, $5::int) n
        ) rows
        returning *
      )
      insert into notifications (id, created_at, tenant_id, application_id, type, title, severity)
      select notification_id, created_at, tenant_id, application_id, type, 'title', 'info' from made where user_id = $3`,
      [...place, start + 1, Math.min(to, start + 500_000)],
    )
  for (const statement of built) await sql.query(statement)
  await sql.query('vacuum analyze notification_recipients')
  await sql.query('vacuum analyze notifications')
}

/**
 * Drops the indexes and returns the statements that rebuild them. Rebuilding them after the insert is faster.
 */
async function dropIndexes(): Promise<string[]> {
  const { rows } = await sql.query<{ name: string; made: string; primary: string | null }>(
    `select x.indexrelid::regclass::text as name, pg_get_indexdef(x.indexrelid) as made, (
       select pg_get_constraintdef(c.oid) from pg_constraint c where c.conindid = x.indexrelid) as primary
     from pg_index x where x.indrelid = 'notification_recipients'::regclass
     -- Of two indexes with the same cost, as on an empty month, the planner uses the older one.
     order by x.indexrelid`,
  )
  for (const { name, primary } of rows)
    await sql.query(
      primary === null ? `drop index ${name}` : `alter table notification_recipients drop constraint ${name}`,
    )
  return rows.map(({ name, made, primary }) =>
    primary === null
      ? made.replace(' ON ONLY ', ' ON ')
      : `alter table notification_recipients add constraint ${name} ${primary}`,
  )
}

type Node = {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  Plans?: Node[]
} & Record<string, unknown>
type Cost = { plan: string[]; buffers: number; recipients: number; contents: number; rows: number }

/** Explains a statement with the service's connection settings and rolls it back. */
async function explain(
  statement: PreparedStatement,
  values: unknown[],
  names: Map<string, string>,
): Promise<Cost> {
  const literals = values.map((value) =>
    Array.isArray(value)
      ? `'{${value.map((one) => (one as string | null) ?? 'null').join(',')}}'`
      : typeof value === 'number'
        ? String(value)
        : `'${value as string}'`,
  )
  await client.query('deallocate all')
  await client.query(`prepare examined as ${statement.text}`)
  await client.query('begin')
  const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Node }] }>(
    `explain (analyze, buffers, timing off, format json) execute examined(${literals.join(', ')})`,
  )
  await client.query('rollback')
  const root = (rows[0] as { 'QUERY PLAN': [{ Plan: Node }] })['QUERY PLAN'][0].Plan
  const cost: Cost = {
    plan: [],
    buffers: Number(root['Shared Hit Blocks']) + Number(root['Shared Read Blocks']),
    recipients: 0,
    contents: 0,
    rows: root['Actual Rows'],
  }
  count(root, 0, { cost, names })
  return cost
}

/**
 * Adds a plan node to the cost. All partitions count as one node, because the number of months with rows
 * depends on the date.
 */
function count(node: Node, depth: number, into: { cost: Cost; names: Map<string, string> }): void {
  const { 'Relation Name': table = '', 'Index Name': index } = node
  const read = (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']
  if (index !== undefined && table.startsWith('notification_recipients')) into.cost.recipients += read
  if (index !== undefined && /^notifications_\d/.test(table)) into.cost.contents += read
  const kind = node['Node Type'].replace('Index Only Scan', 'Index Scan')
  const line =
    `${' '.repeat(depth)}${kind} ${index === undefined ? '' : (into.names.get(index) ?? index)}`.trimEnd()
  if (!into.cost.plan.includes(line)) into.cost.plan.push(line)
  for (const child of node.Plans ?? []) count(child, depth + 1, into)
}

/** Maps partition indexes to their parent indexes. */
async function indexNames(): Promise<Map<string, string>> {
  const { rows } = await sql.query<{ name: string; parent: string }>(
    `select i.inhrelid::regclass::text as name, i.inhparent::regclass::text as parent
     from pg_inherits i join pg_class c on c.oid = i.inhrelid where c.relkind = 'i'`,
  )
  return new Map(rows.map(({ name, parent }) => [name, parent]))
}

/** Returns keys of the reader's rows, either in the middle of the inbox or of the newest unread rows. */
async function keysOf(condition: string, skipped: string, count: number) {
  const { rows } = await sql.query<{ at: Date; id: string }>(
    `select created_at as at, notification_id as id from notification_recipients
     where user_id = $1 ${condition} order by created_at desc, notification_id desc offset ${skipped} limit ${count}`,
    [place[2]],
  )
  return { ids: rows.map(({ id }) => id), times: rows.map(({ at }) => at.toISOString()) }
}

async function measure(): Promise<Record<string, Cost>> {
  const names = await indexNames()
  const inbox = [...place, '2160 hours']
  const half = '(select count(*) / 2 from notification_recipients where user_id = $1)'
  const middle = await keysOf('', half, 1)
  const unread = await keysOf('and read_at is null', '0', 20)
  const [first, deep] = [startOfInbox, { createdAt: middle.times[0] as string, id: middle.ids[0] as string }]
  const of = (statement: PreparedStatement, ...values: unknown[]) => explain(statement, values, names)
  const [tenantId = '', applicationId = '', userId = ''] = place
  const ofPage = (
    kind: keyof typeof pages,
    before: typeof startOfInbox,
    count: number,
    type: string | null,
  ) => {
    const key = { inboxId: { tenantId, applicationId, userId }, before, type }
    return of(pages[kind], ...createPageValues([key], '2160 hours', count))
  }
  return {
    'page of 20': await ofPage('all', first, 21, null),
    'page of 100': await ofPage('all', first, 101, null),
    'page of 20, deep': await ofPage('all', deep, 21, null),
    'page of 100, deep': await ofPage('all', deep, 101, null),
    'unread page of 20': await ofPage('unread', first, 21, null),
    'unread page of 20, deep': await ofPage('unread', deep, 21, null),
    'page of 20 of a rare type': await ofPage('ofType', first, 21, 'rare'),
    'page of 20 of a type, deep': await ofPage('ofType', deep, 21, 'often'),
    'page of a type that nothing has': await ofPage('ofType', first, 21, 'none'),
    'unread page of 20 of a type': await ofPage('unreadOfType', first, 21, 'often'),
    'unread probe': await of(unreadProbe, ...place.map((id) => [id]), '2160 hours'),
    'mark of 20 ids': await of(marks.read, ...inbox, unread.times, unread.ids),
    'mark of all, a part of 100': await of(markAll, ...inbox, first.createdAt, first.id, 100),
  }
}

/**
 * The number of rows that each statement returns. The default is 21, which is a page of 20 and one additional
 * row.
 */
const rowsOf: Record<string, number> = {
  'page of 100': 101,
  'page of 100, deep': 101,
  'page of a type that nothing has': 0,
  'unread probe': 1,
  'mark of 20 ids': 20,
  'mark of all, a part of 100': 1,
}
/**
 * Maximum number of index entries of statements that read more entries than they return. The scan skips unread rows of
 * other types, and the statement that marks rows as read looks them up again by key.
 */
const entriesOf: Record<string, number> = {
  'unread page of 20 of a type': 60,
  'mark of all, a part of 100': 200,
}

test('[comms.inbox] a page, a probe and a mark read the same index entries by the same plan, whatever the table holds', async () => {
  const costs: Record<string, Cost>[] = []
  for (const [index, size] of sizes.entries()) {
    await fill(sizes[index - 1] ?? 0, size)
    costs.push(await measure())
  }
  const few = costs[0] as Record<string, Cost>
  for (const name of Object.keys(few)) {
    const figures = costs.map((cost, index) => {
      const { buffers, recipients } = cost[name] as Cost
      return `${sizes[index]}: ${buffers} pages, ${recipients} entries`
    })
    process.stdout.write(`${name}: ${figures.join('; ')}\n`)
  }
  for (const many of costs)
    for (const [name, cost] of Object.entries(many)) {
      const rows = rowsOf[name] ?? 21
      expect([name, cost.rows]).toEqual([name, rows])
      expect([name, cost.plan]).toEqual([name, few[name]?.plan])
      const entries = entriesOf[name] ?? rows
      expect([name, cost.recipients <= entries && cost.recipients >= rows]).toEqual([name, true])
      // Each row and its content can be on a different page, and an index can be one or two levels deeper. A mark also
      // writes three indexes.
      const larger = cost.buffers - (few[name]?.buffers as number)
      const isMark = name.startsWith('mark')
      expect([name, larger <= (isMark ? 8 : 4) * (Math.max(rows, entries) + 8)]).toEqual([name, true])
    }
  const lines = (name: string): string => (few[name] as Cost).plan.join('\n')
  expect(lines('page of 20')).toContain('Index Scan notification_recipients_pkey')
  expect(lines('unread page of 20')).toContain('Index Scan notification_recipients_unread_idx')
  expect(lines('page of 20 of a rare type')).toContain('Index Scan notification_recipients_type_idx')
  expect(lines('unread probe')).toContain('Index Scan notification_recipients_unread_idx')
  expect(lines('mark of all, a part of 100')).toContain('Index Scan notification_recipients_unread_idx')
  for (const name of Object.keys(few)) expect(lines(name)).not.toMatch(/Seq Scan|Bitmap|Hash/)
}, 1_800_000)
