// Tests the cost, in buffers, of series and of the schedules that count calls and runs. The cost must depend on the
// number of new rows, not on the number of stored ones. The tests run the statements of the service again with
// EXPLAIN.
import { expect, test, vi } from 'vitest'
import { countCalls } from '../src/features/call-log/call-counts-roll-up.store.ts'
import { addChanges } from '../src/features/notifications/notification-counts.store.ts'
import { countRuns } from '../src/features/triggers/run-counts-roll-up.store.ts'
import { createSmallestId } from '../src/platform/ids.ts'
import { seedCaller } from './kit/esb-calls.ts'
import { useProject } from './kit/project.ts'
import { seedTrigger } from './kit/triggers.ts'

const { service, admin, project } = useProject()

const sizes = [10_000, 100_000]
const newRows = 1_000
const until = new Date(Date.now() - 600_000)
const range = { from: new Date(until.getTime() - 60_000).toISOString(), until: until.toISOString() }

type Node = { 'Relation Name'?: string; 'Node Type': string; Plans?: Node[] } & Record<string, unknown>
/** `lookups` are the buffers that reading `endpoints` takes; `buffers` does not contain them. */
type Cost = { buffers: number; lookups: number; relations: string[]; scanned: string[] }

const countBuffers = (node: Node): number =>
  Number(node['Shared Hit Blocks']) + Number(node['Shared Read Blocks'])

/** Explains the last statement of the service that contains the text, after its settings, and rolls it back. */
async function costOf(text: string, values: unknown[]): Promise<Cost> {
  const statement = service.statements.findLast((one) => one.includes(text)) ?? ''
  const client = await service.sql.connect()
  await client.query('begin')
  const settings = service.statements.findLast((one) => one.includes("'enable_seqscan'"))
  if (settings !== undefined) await client.query(settings)
  const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Node }] }>(
    `explain (analyze, buffers, format json) ${statement}`,
    values,
  )
  await client.query('rollback')
  client.release()
  const root = (rows[0] as { 'QUERY PLAN': [{ Plan: Node }] })['QUERY PLAN'][0].Plan
  const nodes: Node[] = []
  const walk = (node: Node): void => {
    nodes.push(node)
    for (const child of node.Plans ?? []) walk(child)
  }
  walk(root)
  const tables = nodes.filter((node) => node['Relation Name'] !== undefined)
  const reads = tables.map((node) => ({
    table: (node['Relation Name'] as string).replace(/_\d{4}_\d\d$/, ''),
    kind: node['Node Type'],
    buffers: countBuffers(node),
  }))
  const lookups = reads
    .filter(({ table }) => table === 'endpoints')
    .reduce((sum, { buffers }) => sum + buffers, 0)
  return {
    buffers: countBuffers(root) - lookups,
    lookups,
    relations: [...new Set(reads.map(({ table }) => table))],
    scanned: reads.filter(({ kind }) => kind === 'Seq Scan').map(({ table }) => table),
  }
}

/** Adds the same number of calls for each caller, spread evenly over a period and stored in the order of their times. */
async function addCalls(
  callers: readonly { endpointId: string; machineUserId: string }[],
  [count, from, to]: readonly [number, Date, Date],
): Promise<void> {
  await service.sql.query(
    `insert into esb_audit_logs (id, created_at, endpoint_id, machine_user_id, source_ip, method, path, target_url,
       response_status, duration_ms)
     select gen_random_uuid(), $3::timestamptz + (n::float8 / $5) * ($4::timestamptz - $3::timestamptz), endpoint_id,
       machine_user_id, '10.1.2.3', 'GET', '/', 'http://a.example', 200, 5
     from generate_series(0, $5::int - 1) n, unnest($1::uuid[], $2::uuid[]) caller (endpoint_id, machine_user_id)
     order by n`,
    [
      callers.map(({ endpointId }) => endpointId),
      callers.map(({ machineUserId }) => machineUserId),
      from,
      to,
      count,
    ],
  )
}

const daysBefore = (days: number): Date => new Date(until.getTime() - days * 86_400_000)

test('counting calls reads the new calls, whatever the size of the log', async () => {
  const { db } = service.world.database
  const callers = []
  for (let index = 0; index < 20; index++) {
    const caller = await seedCaller(service.sql, project)
    await service.sql.query(
      'insert into esb_callers (endpoint_id, machine_user_id, project_id) values ($1, $2, $3)',
      [caller.endpointId, caller.machineUserId, project.id],
    )
    callers.push(caller)
  }
  await addCalls(callers, [newRows / callers.length, new Date(range.from), until])
  const costs: Cost[] = []
  let stored = 0
  for (const size of sizes) {
    await addCalls(callers, [(size - stored) / callers.length, daysBefore(6), daysBefore(1)])
    stored = size
    await service.sql.query('vacuum analyze esb_audit_logs')
    service.statements.length = 0
    await db.transaction((tx) => countCalls(tx, range))
    costs.push(await costOf('insert into esb_call_counts', [range.from, range.until]))
  }
  const [small, large] = costs.map(({ buffers }) => buffers) as [number, number]
  expect(large).toBeLessThan(2 * small)
  // The planner may read the endpoint of each new call, or read each endpoint once. That depends on its sample.
  expect(costs.at(-1)?.lookups).toBeLessThanOrEqual(2 * newRows)
  expect(costs.at(-1)?.scanned).not.toContain('esb_audit_logs')
}, 120_000)

test('counting runs reads the new runs, whatever the number of stored runs', async () => {
  const { db } = service.world.database
  const triggerId = await seedTrigger(service.sql, project)
  const addRuns = (count: number, from: Date, to: Date) =>
    service.sql.query(
      `insert into trigger_runs (id, scheduled_at, project_id, application_id, trigger_id, environment_id, trigger_name,
         cron_expression, run_key, outcome)
       select (left(lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0'), 12) || '7' || substr(md5(n::text), 1, 3)
           || '8' || substr(md5(n::text || at), 1, 15))::uuid,
         at, $1, $2, $3, gen_random_uuid(), 'seeded', '* * * * *', '', 'delivered'
       from (select n, $5::timestamptz + (n::float8 / $4) * ($6::timestamptz - $5::timestamptz) as at
         from generate_series(0, $4::int - 1) n) rows`,
      [project.id, project.applicationId, triggerId, count, from, to],
    )
  await addRuns(newRows, new Date(range.from), until)
  const costs: Cost[] = []
  let stored = 0
  for (const size of sizes) {
    await addRuns(size - stored, daysBefore(6), daysBefore(1))
    stored = size
    await service.sql.query('vacuum analyze trigger_runs')
    service.statements.length = 0
    await db.transaction((tx) => countRuns(tx, range))
    const ids = [createSmallestId(range.from), createSmallestId(range.until)]
    costs.push(await costOf('insert into trigger_run_counts', ids))
  }
  const [small, large] = costs.map(({ buffers }) => buffers) as [number, number]
  expect(large).toBeLessThan(2 * small)
  expect(costs.at(-1)?.scanned).not.toContain('trigger_runs')
}, 120_000)

test('series read counts by index, at most as many rows as points, and no log', async () => {
  // Count one call and one run per hour for 15 days, so that the series have several hundred points.
  for (const [table, column] of [
    ['esb_call_counts (project_id, application_id, hour, outcome, calls, total_duration_ms)', "'ok', 1, 1"],
    ['trigger_run_counts (project_id, trigger_id, hour, outcome, runs)', "'delivered', 1"],
  ] as const)
    await service.sql.query(
      `insert into ${table}
       select $1, null, hour, ${column}
       from generate_series(date_trunc('hour', now()) - interval '15 days', now(), '1 hour') hour
       on conflict do nothing`,
      [project.id],
    )
  await service.sql.query('vacuum analyze')
  const [from, to] = [daysBefore(10).toISOString(), until.toISOString()]
  for (const [field, table] of [
    ['callSeries', 'esb_call_counts'],
    ['runSeries', 'trigger_run_counts'],
  ] as const) {
    const ask = () =>
      service.query(
        admin,
        `query($id: ID!, $from: String!, $to: String!) {
          points: ${field}(projectId: $id, from: $from, to: $to) { count } }`,
        { id: project.id, from, to },
      )
    service.statements.length = 0
    // On a busy machine, the service may shed the request.
    const points = await vi.waitUntil(
      async () => {
        const { status, data } = await ask()
        return status === 503 ? null : (data.points as unknown[])
      },
      { timeout: 20_000 },
    )
    expect(points.length).toBeGreaterThan(200)
    const { relations, buffers } = await costOf(`from ${table}`, [project.id, from, to])
    expect(relations).toEqual([table])
    expect(buffers).toBeLessThan(points.length)
    for (const statement of service.statements)
      expect(statement).not.toMatch(/esb_audit_logs|trigger_runs|notification_recipients/)
  }
})

test('adding up notifications reads the changes and the counts that they change', async () => {
  const { applicationId } = project
  const add = () =>
    service.sql.query(
      `insert into notification_count_changes (application_id, day, emitted, recipients)
       select $1, date_trunc('day', now(), 'UTC'), 1, 5 from generate_series(1, 1000)`,
      [applicationId],
    )
  const costs: number[] = []
  for (const days of [100, 10_000]) {
    await service.sql.query(
      `insert into notification_counts (project_id, application_id, day, emitted, recipients, seen, read)
       select $1, $2, date_trunc('day', now(), 'UTC') - n * interval '1 day', 1, 1, 1, 1 from generate_series(1, $3::int) n
       on conflict do nothing`,
      [project.id, applicationId, days],
    )
    await add()
    await service.sql.query('vacuum analyze notification_counts')
    await service.sql.query('vacuum analyze notification_count_changes')
    service.statements.length = 0
    await addChanges(service.world.database.db.write)
    await add()
    costs.push((await costOf('insert into notification_counts', [])).buffers)
    await service.sql.query('delete from notification_count_changes')
  }
  const [small, large] = costs as [number, number]
  expect(large).toBeLessThan(2 * small)
})
