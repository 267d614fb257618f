// Reads the access, role and unread flag of users of an application in a tenant. One statement with key lookups serves
// many users.
import { orderByPosition } from '../../platform/postgres/coalesce.ts'
import { buildIsActiveSql } from '../../platform/postgres/active-users.ts'
import type { PreparedStatement, RunPrepared } from '../../platform/postgres/prepared.ts'
import { createVersionSql } from '../../platform/postgres/project-version.ts'

/** A user in an application of a tenant. */
export type ApplicationUser = { tenantId: string; applicationId: string; userId: string }

export type Access = {
  projectId: string
  hasAccess: boolean
  /** The role of the user in the tenant if the role includes `apps.read`, otherwise null. */
  role: string | null
  /** True if the user has access only as an administrator. */
  isAdministratorOnly: boolean
}
export type Admission = Access & {
  unread: boolean
  /** The access version of the project at the time of the read. */
  version: string
}

const access = `pair.project_id as "projectId",
  coalesce(pair.enabled and u.is_active
    and (member.role_name is not null or staff.is_staff or u.is_administrator), false) as "hasAccess",
  member.role_name as role,
  coalesce(u.is_administrator and member.role_name is null and staff.is_staff is null, false) as "isAdministratorOnly"`
// Every join is a lookup by key.
const from = `
  from unnest($1::uuid[], $2::uuid[], $3::uuid[]) with ordinality as wanted (tenant_id, application_id, user_id, position)
  cross join lateral (
    select p.project_id, p.enabled from tenant2applications p
    where p.tenant_id = wanted.tenant_id and p.application_id = wanted.application_id limit 1
  ) pair
  left join lateral (
    select m.role_name from user2tenants m where m.tenant_id = wanted.tenant_id and m.user_id = wanted.user_id
      and (select 'apps.read' = any (d.permissions) from tenant_role_definitions d
        where d.tenant_id = m.tenant_id and d.name = m.role_name) limit 1
  ) member on true
  left join lateral (
    select true as is_staff from user2projects s
    where s.project_id = pair.project_id and s.user_id = wanted.user_id limit 1
  ) staff on true
  left join lateral (
    select users.role = 'administrator' as is_administrator, ${buildIsActiveSql('users')} as is_active
    from users where users.id = wanted.user_id limit 1
  ) u on true`
const unread = `exists (
  select from notification_recipients r
  where r.tenant_id = wanted.tenant_id and r.application_id = wanted.application_id and r.user_id = wanted.user_id
    and r.read_at is null and r.created_at > now() - $4::int * interval '1 day'
    and (r.expires_at is null or r.expires_at > now()))`

const accessStatement: PreparedStatement = {
  name: 'comms-access',
  kind: 'read',
  text: `select wanted.position::int, ${access} ${from}`,
}
const admissionStatement: PreparedStatement = {
  name: 'comms-admission',
  kind: 'read',
  text: `select wanted.position::int, ${access}, ${createVersionSql('pair.project_id', 'access')} as version, ${unread} as unread ${from}`,
}

const getUserColumns = (users: readonly ApplicationUser[]): string[][] => [
  users.map(({ tenantId }) => tenantId),
  users.map(({ applicationId }) => applicationId),
  users.map(({ userId }) => userId),
]

/** Returns the access of each user, in input order; null if the application is not assigned to the tenant. */
export async function readAccess(
  run: RunPrepared,
  users: readonly ApplicationUser[],
): Promise<(Access | null)[]> {
  const rows = await run<Access & { position: number }>(accessStatement, getUserColumns(users))
  return orderByPosition(users.length, rows)
}

/** Works like `readAccess`, but also returns the unread flag and the access version. */
export async function readAdmissions(
  run: RunPrepared,
  users: readonly ApplicationUser[],
  retentionDays: number,
): Promise<(Admission | null)[]> {
  const values = [...getUserColumns(users), retentionDays]
  const rows = await run<Admission & { position: number }>(admissionStatement, values)
  return orderByPosition(users.length, rows)
}
