// These tests check the query plans for a large log. They run the statements of the service again with EXPLAIN.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import { type Caller, esbAuditLogsOf, seedCaller, seedCalls, seedPair } from '../../../test/kit/esb-calls.ts'
import { type SeededProject, seedProject, seedUser } from '@manager/harness/seed.ts'

let service: TestApp
let admin: Person
/**
 * A project with three pairs of endpoint and machine user. One pair has most of the calls, and the other
 * pairs have few or none.
 */
let project: SeededProject
let busy: Caller
/** A project with 3,600 pairs, each with two calls. */
let others: SeededProject

const now = new Date()
const lastMonth = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth()) - 1)

beforeAll(async () => {
  service = await startTestApp()
  const { sql } = service
  admin = await seedUser(sql, 'admin', 'administrator')
  project = await seedProject(sql, 'main')
  busy = await seedCaller(sql, project)
  const quiet = await seedCaller(sql, project)
  await seedPair(sql, { ...busy, machineUserId: quiet.machineUserId })
  await seedCalls(sql, quiet, { count: 20, until: lastMonth })
  for (const until of [now, lastMonth]) await seedCalls(sql, busy, { count: 55_000, until })
  others = await seedProject(sql, 'others')
  for (let index = 0; index < 60; index++) await seedCaller(sql, others)
  await sql.query(
    `insert into esb_callers select e.id, m.id, $1 from endpoints e, machine_users m
     where e.project_id = $1 and m.project_id = $1`,
    [others.id],
  )
  await sql.query(
    `insert into esb_audit_logs (id, created_at, endpoint_id, machine_user_id, source_ip, method, path, target_url)
     select gen_random_uuid(), until, endpoint_id, machine_user_id, '10.1.2.3', 'GET', '/', 'http://a.example'
     from esb_callers, unnest($2::timestamptz[]) until where project_id = $1`,
    [others.id, [now, lastMonth]],
  )
  // Some calls share one request id, as if a caller sent it with every call. The other calls have unique ids.
  await sql.query(
    `update esb_audit_logs set request_id = case when duration_ms is null or extract(milliseconds from created_at)::int % 2 = 0
       then 'same' else id::text end`,
  )
  await sql.query('vacuum full esb_audit_logs')
  await sql.query('vacuum analyze')
}, 120_000)
afterAll(() => service.close())

type Plan = {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  Plans?: Plan[]
}

/**
 * Returns the plan nodes of the statement that reads the log. It runs after the other statements, in one transaction.
 */
async function nodesOf(statements: readonly string[], values: unknown[]): Promise<Plan[]> {
  const client = await service.sql.connect()
  const nodes: Plan[] = []
  const walk = (plan: Plan): void => {
    nodes.push(plan)
    for (const child of plan.Plans ?? []) walk(child)
  }
  await client.query('begin')
  for (const text of statements)
    if (text.includes('set_config')) await client.query(text)
    else if (text.includes('from esb_audit_logs')) {
      const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
        `explain (analyze, format json) ${text}`,
        values,
      )
      walk((rows[0] as { 'QUERY PLAN': [{ Plan: Plan }] })['QUERY PLAN'][0].Plan)
    }
  await client.query('rollback')
  client.release()
  return nodes
}

/**
 * Returns the types of the plan nodes that read the log, and the approximate number of rows that they read.
 */
function readsOf(nodes: readonly Plan[]) {
  const reads = nodes.filter((node) =>
    (node['Relation Name'] ?? node['Index Name'] ?? '').startsWith('esb_audit_logs'),
  )
  return {
    // The last vacuum determines whether PostgreSQL must also read the table behind an index.
    kinds: [...new Set(reads.map((node) => node['Node Type'].replace('Index Only Scan', 'Index Scan')))],
    indexes: reads.every((node) => (node['Index Name'] ?? '').includes('request'))
      ? 'by request id'
      : 'others',
    rows: reads.reduce(
      (sum, node) =>
        sum + (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'],
      0,
    ),
  }
}

describe('a log of 110,000 calls in two months', () => {
  test('is listed from the ends of its index: no pair brings more rows than the limit, and the log is not sorted', async () => {
    for (const [{ applicationId }, endpointId, limit, most] of [
      [project, null, 100, 100 + 20 + 3],
      [project, null, 10, 10 + 10 + 3],
      [project, busy.endpointId, 100, 100 + 2],
      [others, null, 10, 10 * 2 + 3_600],
    ] as const) {
      service.statements.length = 0
      const { data } = await esbAuditLogsOf(service, admin, { applicationId, endpointId, limit })
      expect(data.calls).toHaveLength(limit)
      const nodes = await nodesOf(service.statements, [
        applicationId,
        endpointId,
        endpointId,
        limit,
        limit,
        limit,
        0,
      ])
      const { kinds, rows } = readsOf(nodes)
      expect(kinds).toEqual(['Index Scan'])
      expect(rows).toBeGreaterThan(0)
      expect(rows).toBeLessThanOrEqual(most)
      // One sort finds the pairs with the newest calls, and the other sort merges their rows.
      expect(nodes.filter((node) => node['Node Type'].includes('Sort'))).toHaveLength(2)
    }
  })

  test('is searched for a request id by an index: no more than the rows that are returned, however many have the id', async () => {
    const { rows: own } = await service.sql.query<{ id: string }>(
      `select request_id as id from esb_audit_logs where endpoint_id = $1 and request_id <> 'same' limit 1`,
      [busy.endpointId],
    )
    const ofOneCall = own[0]?.id as string
    for (const [{ applicationId }, endpointId, requestId, found, most] of [
      [project, null, ofOneCall, 1, 1],
      [project, busy.endpointId, ofOneCall, 1, 1],
      [project, null, 'unknown', 0, 0],
      // One additional row per endpoint shows that all rows with the same time were read.
      [project, null, 'same', 10, 10 + 10 + 2],
      [project, busy.endpointId, 'same', 10, 10 + 1],
      [others, null, 'same', 10, 60 * (10 + 60)],
    ] as const) {
      service.statements.length = 0
      const args = { applicationId, endpointId, requestId, limit: 10 }
      expect((await esbAuditLogsOf(service, admin, args)).data.calls).toHaveLength(found)
      const values = [requestId, 10, applicationId, endpointId, endpointId, 10, 0]
      const nodes = await nodesOf(service.statements, values)
      const { kinds, rows, indexes } = readsOf(nodes)
      expect([kinds, indexes]).toEqual([['Index Scan'], 'by request id'])
      expect([requestId, rows]).toEqual([requestId, expect.toSatisfy((count: number) => count <= most)])
    }
  })

  test('is read by time, filtered or not, only until there are enough rows', async () => {
    const { applicationId } = project
    const filters = [{ field: 'method', value: 'POST' }]
    const pagination = { limit: 10, offset: 20 }
    const order = [{ field: 'timestamp', direction: 'DESC' as const }]
    for (const [args, parts, most] of [
      [{ pagination }, [30, 30, 10, 20], 30 + 20 + 3],
      [{ pagination, filters }, ['POST', 30, 10, 20], 30 + 20],
      // One additional row shows that all rows with the same time were read.
      [{ pagination, order }, [30, 10, 20], 31 + 20],
    ] as const) {
      service.statements.length = 0
      expect((await esbAuditLogsOf(service, admin, { applicationId, ...args })).data.calls).toHaveLength(10)
      const wanted = [applicationId, null, null]
      const values =
        'filters' in args || 'order' in args
          ? [...parts.slice(0, -2), ...wanted, 10, 20]
          : [...wanted, ...parts]
      const { kinds, rows } = readsOf(await nodesOf(service.statements, values))
      expect(kinds).toEqual(['Index Scan'])
      expect(rows).toBeLessThanOrEqual(most)
    }
  })

  test('is searched by a filter of the request id as by the argument', async () => {
    const { applicationId } = project
    const filters = [
      { field: 'requestId', value: 'unknown' },
      { field: 'path', value: '/' },
    ]
    service.statements.length = 0
    const { data } = await esbAuditLogsOf(service, admin, { applicationId, filters })
    expect(data.calls).toEqual([])
    const values = ['unknown', 'unknown', '%/%', 100, applicationId, null, null, 100, 0]
    const { kinds, rows, indexes } = readsOf(await nodesOf(service.statements, values))
    expect([kinds, indexes, rows]).toEqual([['Index Scan'], 'by request id', 0])
  })

  test('is counted by its index, and no further than needed', async () => {
    for (const [field, id, calls] of [
      ['deleteEndpoint', busy.endpointId, 100_001],
      ['deleteMachineUser', busy.machineUserId, 100_001],
      ['deleteApplication', project.applicationId, 100_001],
      ['deleteApplication', others.applicationId, 7_200],
    ] as const) {
      service.statements.length = 0
      const { error } = await service.query(admin, `mutation($id: ID!) { ${field}(id: $id) }`, { id })
      expect(error).toContain(` ${calls > 100_000 ? 'more than 100000' : calls} logged ESB requests`)
      const { kinds, rows } = readsOf(await nodesOf(service.statements, [id, 100_001, 100_001]))
      expect(kinds).toEqual(['Index Scan'])
      // EXPLAIN reports rows as rounded averages over the pairs.
      expect(Math.abs(rows - calls)).toBeLessThan(10)
    }
  })
})
