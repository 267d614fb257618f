// Seeds logged ESB calls with SQL, for tests that do not need real calls, and queries them.
import { randomUUID } from 'node:crypto'
import type { ClientBase, Pool } from 'pg'
import type { Person } from '@manager/harness/callers.ts'
import type { TestApp } from './app.ts'
import { seedEndpoint } from './endpoints.ts'
import type { GraphqlAnswer } from '@manager/harness/graphql.ts'
import { type SeededProject, seedMachineUser } from '@manager/harness/seed.ts'

/** The machine user and the endpoint of a call. */
export type Caller = { projectId: string; endpointId: string; machineUserId: string }
type Header = { name: string; value: string }
type CallValues = {
  requestId?: string
  createdAt?: string
  sourceIp?: string
  method?: string
  path?: string
  targetUrl?: string
  responseStatus?: number | null
  durationMs?: number | null
  transformed?: boolean
  failure?: string | null
  requestHeaders?: Header[]
  requestBody?: string
  responseHeaders?: Header[]
  responseBody?: string
}

/** Creates an endpoint and a machine user without logged calls. */
export async function seedCaller(sql: Pool, project: SeededProject): Promise<Caller> {
  const endpointId = await seedEndpoint(sql, project)
  const { id: machineUserId } = await seedMachineUser(sql, project)
  return { projectId: project.id, endpointId, machineUserId }
}

/** Records the pair of endpoint and machine user, as the machine user's first call does. */
export async function seedPair(sql: Pool | ClientBase, caller: Caller): Promise<void> {
  await sql.query(
    `insert into esb_callers (endpoint_id, machine_user_id, project_id) values ($1, $2, $3)
     on conflict do nothing`,
    [caller.endpointId, caller.machineUserId, caller.projectId],
  )
}

/** Seeds one logged call, by default now with status 200, and returns its id. */
export async function seedCall(
  sql: Pool | ClientBase,
  caller: Caller,
  values: CallValues = {},
): Promise<string> {
  const id = randomUUID()
  const call = {
    createdAt: new Date().toISOString(),
    sourceIp: '10.1.2.3',
    method: 'POST',
    path: '/orders',
    targetUrl: 'https://partner.example/orders',
    responseStatus: 200,
    durationMs: 12,
    transformed: false,
    ...values,
  }
  const json = (headers?: Header[]) => (headers === undefined ? null : JSON.stringify(headers))
  await seedPair(sql, caller)
  await sql.query(
    `insert into esb_audit_logs (id, created_at, endpoint_id, machine_user_id, source_ip, method, path, target_url,
       response_status, duration_ms, transformed, failure, request_headers, request_body, response_headers, response_body, request_id)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`,
    [
      id,
      call.createdAt,
      caller.endpointId,
      caller.machineUserId,
      call.sourceIp,
      call.method,
      call.path,
      call.targetUrl,
      call.responseStatus,
      call.durationMs,
      call.transformed,
      call.failure,
      json(call.requestHeaders),
      call.requestBody,
      json(call.responseHeaders),
      call.responseBody,
      call.requestId,
    ],
  )
  return id
}

/** Seeds `count` calls in one statement. The calls are `everyMs` apart, and the last call is at `until`. */
export async function seedCalls(
  sql: Pool,
  caller: Caller,
  { count, until = new Date(), everyMs = 1 }: { count: number; until?: Date; everyMs?: number },
): Promise<void> {
  await seedPair(sql, caller)
  await sql.query(
    `insert into esb_audit_logs (id, created_at, endpoint_id, machine_user_id, source_ip, method, path, target_url,
       response_status, duration_ms)
     select gen_random_uuid(), $3::timestamptz - make_interval(secs => i * $4::float8 / 1000), $1, $2, '10.1.2.3',
       'POST', '/orders', 'https://partner.example/orders', 200, 12
     from generate_series(0, $5 - 1) i`,
    [caller.endpointId, caller.machineUserId, until.toISOString(), everyMs, count],
  )
}

/** Queries logged calls. The result is aliased to `calls`. */
export const esbAuditLogsOf = (
  service: TestApp,
  caller: Person,
  args: {
    applicationId: string
    endpointId?: string | null
    limit?: number | null
    requestId?: string | null
    filters?: { field: string; value: string }[]
    order?: { field: string; direction?: 'ASC' | 'DESC' }[]
    pagination?: { limit: number; offset: number }
  },
  selected = 'id',
): Promise<GraphqlAnswer> =>
  service.query(
    caller,
    `query($applicationId: ID!, $endpointId: ID, $limit: Int, $requestId: String,
        $filters: [Filter!], $order: [Order!], $pagination: Pagination) {
      calls: esbAuditLogs(applicationId: $applicationId, endpointId: $endpointId, limit: $limit,
        requestId: $requestId, filters: $filters, order: $order, pagination: $pagination) { ${selected} } }`,
    args,
  )
