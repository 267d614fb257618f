// Reads the roles of people in objects. The statements of this feature first select candidates, which are pairs of a
// person and an object in the order of the list, and then look up the roles of each candidate by unique key.
import { type RawBuilder, sql } from 'kysely'
import { buildIsActiveSql } from '../../platform/postgres/active-users.ts'
import type { Reads } from '../../platform/postgres/handles.ts'
import type { ApplicationRole, ProjectRole, TenantPermission } from '../../policy/roles.ts'
import type { AccessRecord, AccessScope } from './access-rows.pure.ts'

/** The smallest and the largest UUID: bounds of a range of ids. */
export const [lowestId, highestId] = [
  '00000000-0000-0000-0000-000000000000',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
]

/** The columns of a candidate: its scope, the place of the scope in the order, a parent for the order, and ids. */
type CandidateColumns = {
  scope: AccessScope
  section: number
  parent?: RawBuilder<unknown>
  user: RawBuilder<unknown>
  project?: RawBuilder<unknown>
  tenant?: RawBuilder<unknown>
  application?: RawBuilder<unknown>
}

const nullId = sql`null::uuid`

/** Returns the `select` list of a branch of candidates. */
export const selectCandidate = ({
  scope,
  section,
  parent = nullId,
  user,
  project = nullId,
  tenant = nullId,
  application = nullId,
}: CandidateColumns): RawBuilder<unknown> => sql`
  select ${sql.lit(scope)} as scope, ${sql.lit(section)}::int as section, ${parent} as parent_id, ${user} as user_id,
    ${project} as project_id, ${tenant} as tenant_id, ${application} as application_id`

/** True if the user of a membership has a role in its project; `member` is the alias of a row with both ids. */
export const buildHasProjectRoleSql = (member: string): string => `coalesce((
  select true from user2projects p
  where p.project_id = ${member}.project_id and p.user_id = ${member}.user_id limit 1), false)`

/** The columns of a rule that gives a role; `member` is the alias of the membership. */
const buildGroupSql = (member: string): string => `${member}.group_rule_id, (
        select g.display_name from group_rules r join scim_groups g on g.id = r.group_id where r.id = ${member}.group_rule_id
      ) as group_name`

type Row = Omit<AccessRecord, 'inProject' | 'inTenant' | 'inApplication'> & {
  section: number
  parentId: string | null
  projectMembershipId: string | null
  projectRole: ProjectRole
  projectRoleAt: string
  projectRuleId: string | null
  projectGroup: string | null
  tenantMembershipId: string | null
  tenantRole: string
  tenantRoleAt: string
  tenantRuleId: string | null
  tenantGroup: string | null
  tenantPermissions: TenantPermission[]
  applicationMembershipId: string | null
  applicationRole: ApplicationRole
  applicationRoleAt: string
  applicationRuleId: string | null
  applicationGroup: string | null
}

/** A record and its place in the list. */
export type ListedRecord = AccessRecord & Pick<Row, 'section' | 'parentId'>

/** Returns the first candidates of all branches with their roles. */
export async function readRecords(
  db: Reads,
  branches: readonly RawBuilder<unknown>[],
  { order, limit }: { order: RawBuilder<unknown>; limit: number },
): Promise<ListedRecord[]> {
  if (branches.length === 0) return []
  const candidates = sql.join(
    branches.map((branch) => sql`(${branch})`),
    sql` union all `,
  )
  const { rows } = await sql<Row>`
    select c.*, u.role = 'administrator' as is_administrator, u.is_active,
      p.id as project_membership_id, p.role as project_role, p.updated_at as project_role_at,
      p.group_rule_id as project_rule_id, p.group_name as project_group,
      t.id as tenant_membership_id, t.role_name as tenant_role, t.updated_at as tenant_role_at,
      t.permissions as tenant_permissions, t.group_rule_id as tenant_rule_id, t.group_name as tenant_group,
      a.id as application_membership_id, a.role as application_role, a.updated_at as application_role_at,
      a.group_rule_id as application_rule_id, a.group_name as application_group
    from (select * from (${candidates}) all_branches order by ${order} limit ${limit}) c
    cross join lateral (
      select users.role, ${sql.raw(buildIsActiveSql('users'))} as is_active from users where users.id = c.user_id limit 1
    ) u
    left join lateral (
      select m.id, m.role, m.updated_at, ${sql.raw(buildGroupSql('m'))} from user2projects m
      where m.project_id = c.project_id and m.user_id = c.user_id limit 1
    ) p on true
    left join lateral (
      select m.id, m.role_name, m.updated_at, ${sql.raw(buildGroupSql('m'))},
        (select d.permissions from tenant_role_definitions d
          where d.tenant_id = m.tenant_id and d.name = m.role_name) as permissions
      from user2tenants m where m.tenant_id = c.tenant_id and m.user_id = c.user_id limit 1
    ) t on true
    left join lateral (
      select m.id, m.role, m.updated_at, ${sql.raw(buildGroupSql('m'))} from user2applications m
      where m.application_id = c.application_id and m.user_id = c.user_id limit 1
    ) a on true
    order by ${order}`.execute(db)
  return rows.map(toRecord)
}

const toRecord = (row: Row): ListedRecord => ({
  scope: row.scope,
  section: row.section,
  parentId: row.parentId,
  userId: row.userId,
  projectId: row.projectId,
  tenantId: row.tenantId,
  applicationId: row.applicationId,
  isAdministrator: row.isAdministrator,
  isActive: row.isActive,
  inProject:
    row.projectMembershipId === null
      ? null
      : {
          id: row.projectMembershipId,
          role: row.projectRole,
          grantedAt: row.projectRoleAt,
          groupRuleId: row.projectRuleId,
          group: row.projectGroup,
        },
  inTenant:
    row.tenantMembershipId === null
      ? null
      : {
          id: row.tenantMembershipId,
          role: row.tenantRole,
          grantedAt: row.tenantRoleAt,
          permissions: row.tenantPermissions,
          groupRuleId: row.tenantRuleId,
          group: row.tenantGroup,
        },
  inApplication:
    row.applicationMembershipId === null
      ? null
      : {
          id: row.applicationMembershipId,
          role: row.applicationRole,
          grantedAt: row.applicationRoleAt,
          groupRuleId: row.applicationRuleId,
          group: row.applicationGroup,
        },
})
