// The record of the mixed load for the checkers: responses to callers, the final state of the database, and the data
// that backends, partners and sockets received.
import type { Pool } from 'pg'
import type { Invalidation, Use } from '@manager/harness/revocation.ts'
import type { EmitHistory } from '../comms-checkers.ts'
import type { History } from '../mutants.ts'
import type { Operation } from '../recorder.ts'
import type { StrangerCall } from './credentials.ts'
import type { AnsweredCall, Login, Uploaded } from './exchanges.ts'
import type { Rename } from './writes.ts'

/** A fault, with its start and end. */
export type FaultSpan = { name: string; at: number; until: number }
/** A tenant and the number of audit rows about its creation. */
export type TenantRow = { slug: string; audited: number }
export type MixedHistory = History & {
  operations: Operation[]
  tenants: TenantRow[]
  renames: Rename[]
  /** Final names of the tenants. */
  names: Record<string, string>
  uses: Use[]
  invalidations: [string, Invalidation][]
  strangers: StrangerCall[]
  answered: AnsweredCall[]
  /** Rows of the call log. The status is null until the call is complete. */
  logged: { requestId: string; status: number | null }[]
  forwarded: string[]
  uploaded: Uploaded[]
  served: Record<string, string>
  logins: Login[]
  comms: EmitHistory
  sockets: { opened: number; back: number }
  /** Problems that `manager audit verify` found. */
  broken: string[]
  withoutRetryAfter: string[]
  /** Replicas that exited unexpectedly. */
  ended: string[]
  drainSeconds: number | null
}

/** Reads the tenants that the load created, each with the number of audit rows about its creation. */
export async function readTenants(sql: Pool, projectId: string): Promise<TenantRow[]> {
  const { rows } = await sql.query<TenantRow>(
    `select t.slug, (select count(*)::int from audit_logs a where a.entity_id = t.id::text and a.action = 'create') as audited
     from tenants t where t.project_id = $1 and t.slug like 't-%'`,
    [projectId],
  )
  return rows
}

export async function readNames(sql: Pool, ids: readonly string[]): Promise<Record<string, string>> {
  const { rows } = await sql.query<{ id: string; name: string }>(
    'select id, name from tenants where id = any ($1)',
    [ids],
  )
  return Object.fromEntries(rows.map(({ id, name }) => [id, name]))
}

export async function readLogged(sql: Pool): Promise<MixedHistory['logged']> {
  const { rows } = await sql.query<{ requestId: string; status: number | null }>(
    'select request_id as "requestId", response_status as status from esb_audit_logs where request_id is not null',
  )
  return rows
}
