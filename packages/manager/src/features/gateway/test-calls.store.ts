import { sql } from 'kysely'
import { createVersionSql } from '../../platform/postgres/project-version.ts'
import type { Reads, Tx } from '../../platform/postgres/handles.ts'

/** The endpoint and the machine user of a test call. */
export type TestParties = {
  projectId: string
  applicationId: string
  consumeUrl: string
  isEndpointEnabled: boolean
  machineName: string
  machineUsername: string
  machineEnvironmentId: string
  isMachineEnabled: boolean
  /** True if the machine user has an enabled access row. */
  isAllowed: boolean
  endpointsVersion: string
}

/** Returns both parties, or undefined if the endpoint and the machine user are not in the same project. */
export async function findTestParties(
  db: Reads,
  endpointId: string,
  machineUserId: string,
): Promise<TestParties | undefined> {
  const { rows } = await sql<TestParties>`
    select e.project_id, e.application_id, e.consume_url, e.enabled as is_endpoint_enabled,
      m.name as machine_name, m.username as machine_username, m.environment_id as machine_environment_id,
      m.enabled as is_machine_enabled, coalesce(a.enabled, false) as is_allowed,
      ${sql.raw(createVersionSql('e.project_id', 'endpoints'))} as endpoints_version
    from endpoints e
    join machine_users m on m.project_id = e.project_id and m.id = ${machineUserId}
    left join machine_user2endpoints a on a.endpoint_id = e.id and a.machine_user_id = m.id
    where e.id = ${endpointId}`.execute(db)
  return rows[0]
}

/**
 * Locks both parties and the access row. Returns false unless all three are still enabled and the endpoint still has
 * the revision of the call's target.
 */
export async function lockEnabledParties(
  tx: Tx,
  target: { id: string; revision: number },
  machineUserId: string,
): Promise<boolean> {
  const { rows } = await sql`
    select from endpoints e
    join machine_users m on m.project_id = e.project_id and m.id = ${machineUserId} and m.enabled
    join machine_user2endpoints a on a.endpoint_id = e.id and a.machine_user_id = m.id and a.enabled
    where e.id = ${target.id} and e.revision = ${target.revision} and e.enabled
    for share`.execute(tx)
  return rows.length > 0
}
