// Creates the recipients for comms scenarios: a project with one tenant, its members, the applications
// enabled for it, and a machine user that emits. Uses SQL, because the scenarios do not test how these
// objects are created.
import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { createMachineToken, seedTenant } from '@manager/harness/seed.ts'

export type CommsWorld = {
  /** Token of the machine user. */
  token: string
  tenantId: string
  applicationIds: string[]
  /** Members of the tenant with access to every application. */
  userIds: string[]
}

export async function createCommsWorld(
  sql: Pool,
  counts: { applications: number; users: number },
): Promise<CommsWorld> {
  const [projectId, environmentId, tenantId] = [randomUUID(), randomUUID(), randomUUID()]
  const applicationIds = Array.from({ length: counts.applications }, () => randomUUID())
  const userIds = Array.from({ length: counts.users }, () => randomUUID())
  const { token, tokenPrefix, tokenHash } = createMachineToken()
  await sql.query("insert into projects (id, name, slug) values ($1, 'Faults', 'faults')", [projectId])
  await sql.query(
    `insert into environments (id, project_id, name, display_name, sort_order, protected)
     values ($1, $2, 'dev', 'Development', 10, false)`,
    [environmentId, projectId],
  )
  await sql.query(
    `insert into machine_users (id, project_id, environment_id, name, username, enabled, token_prefix, token_hash)
     values (gen_random_uuid(), $1, $2, 'backend', 'Bearer:' || $3::text, true, $3, $4)`,
    [projectId, environmentId, tokenPrefix, tokenHash],
  )
  await seedTenant(sql, projectId, tenantId, 'faults')
  await sql.query(
    `with made as (
       insert into applications (id, project_id, name, slug)
       select id, $1, 'Application ' || position, 'application-' || position
       from unnest($3::uuid[]) with ordinality as wanted (id, position) returning id
     )
     insert into tenant2applications (id, project_id, tenant_id, application_id, enabled)
     select gen_random_uuid(), $1, $2, id, true from made`,
    [projectId, tenantId, applicationIds],
  )
  await sql.query(
    `with made as (
       insert into users (id, external_username) select id, 'user ' || id from unnest($3::uuid[]) as wanted (id)
       returning id
     )
     insert into user2tenants (id, project_id, tenant_id, user_id, role_name)
     select gen_random_uuid(), $1, $2, id, 'member' from made`,
    [projectId, tenantId, userIds],
  )
  await sql.query('analyze')
  return { token, tenantId, applicationIds, userIds }
}
