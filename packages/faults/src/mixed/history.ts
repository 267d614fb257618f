// What happened under the mixed load, as its checkers read it: what callers were answered, what the database holds in the
// end, and what backends, partners and sockets saw.
import type { Pool } from 'pg'
import type { Ending, Use } from '@manager/harness/revocation.ts'
import type { EmitHistory } from '../comms-checkers.ts'
import type { History } from '../mutants.ts'
import type { Operation } from '../recorder.ts'
import type { StrangerCall } from './credentials.ts'
import type { AnsweredCall, Login, Uploaded } from './exchanges.ts'
import type { Rename } from './writes.ts'

/** What was done to the system, and when that was over. */
export type FaultSpan = { name: string; at: number; until: number }
/** Audit rows of a tenant, by what they say was done. */
export type TenantRow = { slug: string; audited: number }
export type MixedHistory = History & {
  operations: Operation[]
  tenants: TenantRow[]
  renames: Rename[]
  /** The names that tenants have in the end. */
  names: Record<string, string>
  uses: Use[]
  endings: [string, Ending][]
  strangers: StrangerCall[]
  answered: AnsweredCall[]
  /** What the log of calls holds: the request's id, and the status, null when its end is not there. */
  logged: { requestId: string; status: number | null }[]
  forwarded: string[]
  uploaded: Uploaded[]
  served: Record<string, string>
  logins: Login[]
  comms: EmitHistory
  sockets: { opened: number; back: number }
  /** What `manager audit verify` found. */
  broken: string[]
  withoutRetryAfter: string[]
  /** Replicas that ended although nobody told them to. */
  ended: string[]
  drainSeconds: number | null
}

/** The tenants of the project that were made by the load, each with how many audit rows tell of its making. */
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
