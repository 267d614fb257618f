// Tests the cost of pages in buffers instead of milliseconds, with two sizes of each list and log. At both sizes,
// every page must have the same plan and a similar number of buffers. LOAD_SIZE=full uses a million rows for the
// larger size.
import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadSize } from '@manager/harness/load-sizes.ts'
import { type SeededProject, seedProject } from '@manager/harness/seed.ts'
import {
  type AuditSelection,
  countAuditRows,
  readAuditPage,
} from '../src/features/audit/audit-log-page.store.ts'
import { auditLogFields } from '../src/features/audit/audit.store.ts'
import {
  type PageSelection,
  countCallsOfPage,
  readCallPage,
} from '../src/features/call-log/logged-call-page.store.ts'
import { callFields } from '../src/features/call-log/logged-calls.store.ts'
import { listTenants, tenantFields } from '../src/features/tenants/tenants.store.ts'
import { countRuns, readRunPage } from '../src/features/triggers/trigger-run-page.store.ts'
import { encodeListCursor } from '../src/platform/lists/cursor.ts'
import { type ListArgs, readPage } from '../src/platform/lists/filters.ts'
import { type LogArgs, readLogQuery } from '../src/platform/lists/log-page.ts'
import type { Db } from '../src/platform/postgres/handles.ts'
import { type TestDatabase, createScratchDatabase } from './kit/databases.ts'
import { type Caller, seedCaller, seedPair } from './kit/esb-calls.ts'
import { type Explained, createExplainer } from './kit/explained.ts'
import { seedTrigger } from './kit/triggers.ts'

const sizes = [10_000, loadSize(30_000, 1_000_000)] as const
const pairs = 5
// Rows are spread over 20 days, so that a log has the same number of months at every size.
const logDays = 20

let database: TestDatabase
let sql: Pool
let explainer: Awaited<ReturnType<typeof createExplainer>>
let project: SeededProject
let callers: Caller[]
let triggerId: string
beforeAll(async () => {
  database = await createScratchDatabase()
  sql = new Pool({ connectionString: database.url, max: 1 })
  explainer = await createExplainer(database.url)
  project = await seedProject(sql, 'main')
  callers = []
  for (let index = 0; index < pairs; index++) callers.push(await seedCaller(sql, project))
  for (const caller of callers) await seedPair(sql, caller)
  triggerId = await seedTrigger(sql, project)
  await sql.query("select partitions_prepare('trigger_runs', 2), esb_audit_logs_prepare(2)")
})
afterAll(async () => {
  await explainer.close()
  await sql.end()
  await database.drop()
})

/** The time of row `n`. Times are spread evenly, and the last row has the current time. */
const at = `now() - ($1::float8 - n) / $1::float8 * interval '${logDays} days'`

/** Replaces the rows of every list and log with this number of rows. */
async function fill(count: number): Promise<void> {
  const rows = 'generate_series(1, $1::int) n'
  await sql.query('delete from tenants where project_id = $1', [project.id])
  await sql.query('truncate esb_audit_logs, trigger_runs')
  await sql.query('set session_replication_role = replica')
  await sql.query('delete from audit_logs')
  await sql.query('delete from audit_chains')
  await sql.query(
    `insert into tenants (id, project_id, name, slug)
     select gen_random_uuid(), $2, 'tenant ' || n % 1000, 'tenant-' || n from ${rows}`,
    [count, project.id],
  )
  await sql.query(
    `insert into esb_audit_logs (id, created_at, endpoint_id, machine_user_id, source_ip, method, path, target_url,
       response_status, duration_ms, request_id)
     select gen_random_uuid(), date_trunc('milliseconds', ${at}), ($2::uuid[])[1 + n % ${pairs}],
       ($3::uuid[])[1 + n % ${pairs}], '10.1.2.3', 'POST', '/orders', 'https://partner.example/orders', 200, 12,
       'request-' || n from ${rows}`,
    [count, callers.map((one) => one.endpointId), callers.map((one) => one.machineUserId)],
  )
  await sql.query(
    `insert into trigger_runs (id, scheduled_at, project_id, application_id, trigger_id, environment_id, trigger_name,
       cron_expression, run_key, outcome)
     select gen_random_uuid(), date_trunc('milliseconds', ${at}), $2, $3, $4, $5, 'seeded', '* * * * *', '', 'delivered'
     from ${rows}`,
    [count, project.id, project.applicationId, triggerId, project.environmentId],
  )
  await sql.query(
    `insert into audit_logs (chain_id, seq, id, entity_type, entity_id, action, description, metadata, changes, ip_address,
       user_agent, created_at, prev_hash, hash)
     select $2, n, gen_random_uuid(), 'tenant', 'tenant-' || n % 100, 'update', 'tenant updated', '{}', '{}', '', '',
       date_trunc('milliseconds', ${at}), '\\x00', '\\x00' from ${rows}`,
    [count, project.id],
  )
  await sql.query('insert into audit_chains (chain_id, seq, hash) values ($1, $2, $3)', [
    project.id,
    count,
    Buffer.alloc(32),
  ])
  await sql.query('set session_replication_role = origin')
  await sql.query('vacuum analyze')
}

const hour = 3_600_000
const middle = new Date(Date.now() - (logDays / 2) * 24 * hour)
const window = { from: middle.toISOString(), to: new Date(middle.getTime() + 24 * hour).toISOString() }
const page = { pagination: { limit: 50, offset: 0 } }

const readTenants = (db: Db, args: ListArgs): Promise<unknown> =>
  listTenants(db.read, [project.id], 'all', readPage(tenantFields, { ...page, ...args }))
const cursorOf = (name: string, values: readonly string[]): string =>
  encodeListCursor(JSON.stringify([name, ...values]))

const [callPosition, runPosition, auditPosition] = [
  { name: 'call', size: 2 },
  { name: 'run', size: 2 },
  { name: 'audit', size: 1 },
]
const callSelection = (more: Partial<PageSelection> = {}): PageSelection => ({
  applicationId: project.applicationId,
  endpointId: null,
  machineUserId: null,
  requestId: null,
  status: null,
  page: readPage(callFields, {}),
  ...more,
})
const readCalls = (db: Db, args: LogArgs, more?: Partial<PageSelection>) =>
  db.transaction((tx) =>
    readCallPage(tx, callSelection(more), readLogQuery({ ...page, ...args }, callPosition)),
  )
const readRuns = (db: Db, args: LogArgs, outcome: string | null = null) =>
  readRunPage(
    db,
    { triggerId, environmentId: null, outcome },
    readLogQuery({ ...page, ...args }, runPosition),
  )
const auditSelection = (more: Partial<AuditSelection> = {}): AuditSelection => ({
  chainId: project.id,
  entityId: null,
  userId: null,
  page: readPage(auditLogFields, {}),
  ...more,
})
const readAudit = (db: Db, args: LogArgs, more?: Partial<AuditSelection>) =>
  readAuditPage(db.read, auditSelection(more), readLogQuery({ ...page, ...args }, auditPosition))

const inTheMiddle = [window.from, '80000000-0000-4000-8000-000000000000']
const reads: Record<string, (db: Db, count: number) => Promise<unknown>> = {
  'tenants by id, after a cursor': (db) =>
    readTenants(db, { reading: { hasCursors: true, after: cursorOf('id asc', [inTheMiddle[1] as string]) } }),
  'tenants by name, after a cursor': (db) =>
    readTenants(db, {
      order: [{ field: 'name' }],
      reading: {
        hasCursors: true,
        after: cursorOf('name asc, id asc', ['tenant 500', inTheMiddle[1] as string]),
      },
    }),
  'the total of tenants': (db) =>
    readTenants(db, { pagination: { limit: 1, offset: 0 }, reading: { hasTotal: true } }),
  'the newest calls': (db) => readCalls(db, {}),
  'calls after a cursor': (db) => readCalls(db, { after: cursorOf('call', inTheMiddle) }),
  'calls in a day': (db) => readCalls(db, window),
  'calls of a request': (db) => readCalls(db, {}, { requestId: 'request-500' }),
  'calls with a rare status': (db) => readCalls(db, {}, { status: { min: 500, max: 599 } }),
  'the total of calls': (db) =>
    db.transaction((tx) => countCallsOfPage(tx, callSelection(), readLogQuery(page, callPosition))),
  'the newest runs': (db) => readRuns(db, {}),
  'runs after a cursor': (db) => readRuns(db, { after: cursorOf('run', inTheMiddle) }),
  'runs with a rare outcome': (db) => readRuns(db, {}, 'failed'),
  'the total of runs': (db) =>
    countRuns(db, { triggerId, environmentId: null, outcome: null }, readLogQuery(page, runPosition)),
  'the newest audit rows': (db) => readAudit(db, {}),
  'audit rows after a cursor': (db, count) =>
    readAudit(db, { after: cursorOf('audit', [String(count / 2)]) }),
  'audit rows in a day': (db) => readAudit(db, window),
  'audit rows of an entity': (db) => readAudit(db, {}, { entityId: 'tenant-7' }),
  'audit rows with a rare action': (db) =>
    readAudit(
      db,
      {},
      { page: readPage(auditLogFields, { filters: [{ field: 'action', value: 'delete' }] }) },
    ),
  'the total of audit rows': (db) =>
    countAuditRows(db.read, auditSelection(), readLogQuery(page, auditPosition)),
}

describe('pages of a list and of a log', () => {
  test('have the same plan and nearly the same buffers at any size', { timeout: 600_000 }, async () => {
    const found: Record<string, Explained>[] = []
    for (const count of sizes) {
      await fill(count)
      const costs: Record<string, Explained> = {}
      for (const [name, read] of Object.entries(reads))
        costs[name] = await explainer.explain((db) => read(db, count))
      found.push(costs)
    }
    const [small, large] = found as [Record<string, Explained>, Record<string, Explained>]
    const problems: string[] = []
    for (const name of Object.keys(reads)) {
      const [before, after] = [small[name] as Explained, large[name] as Explained]
      process.stdout.write(
        `${name}: ${before.buffers} buffers of ${sizes[0]} rows, ${after.buffers} of ${sizes[1]}\n`,
      )
      if (after.buffers > 2 * before.buffers + 20)
        problems.push(`${name}: ${before.buffers} -> ${after.buffers}`)
      // The query for the total reads at most 10,001 rows. For so few rows, the planner may scan the table.
      const isTotal = name.startsWith('the total')
      const readsTable = after.plan.some(
        (line) => line.startsWith('Seq Scan') && !line.endsWith(' audit_chains'),
      )
      if (!isTotal && (readsTable || after.plan.join() !== before.plan.join()))
        problems.push(`${name}: ${before.plan.join(', ')} -> ${after.plan.join(', ')}`)
    }
    expect(problems).toEqual([])
  })

  test('lead through the whole log of calls without an offset', { timeout: 600_000 }, async () => {
    const limit = { pagination: { limit: 100, offset: 0 } }
    let after: string | null = null
    let [seen, pages] = [0, 0]
    const last: string[] = []
    const started = performance.now()
    const read = (db: Db, cursor: string | null) => readCalls(db, { ...limit, after: cursor })
    for (;;) {
      const { rows } = await explainer.run((db) => read(db, after))
      const nodes = rows.slice(0, 100)
      seen += nodes.length
      pages++
      for (const { createdAt, id } of nodes) {
        const position = `${new Date(createdAt).toISOString()} ${id}`
        expect(last.length === 0 || position < (last[0] as string)).toBe(true)
        last[0] = position
      }
      if (rows.length <= 100) break
      const { createdAt, id } = nodes.at(-1) as { createdAt: string; id: string }
      after = cursorOf('call', [new Date(createdAt).toISOString(), id])
    }
    process.stdout.write(`${seen} calls in ${pages} pages, ${Math.round(performance.now() - started)} ms\n`)
    expect(seen).toBe(sizes[1])
    const first = await explainer.explain((db) => read(db, null))
    const end = await explainer.explain((db) => read(db, after))
    expect(end.buffers).toBeLessThan(2 * first.buffers)
  })
})
