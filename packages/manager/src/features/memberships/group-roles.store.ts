// Writes the roles that group rules give. The statements compare the rules with the memberships of some people in some
// objects, so their cost depends on these people only. A membership without a rule was given directly and never changes here.
import { type RawBuilder, sql } from 'kysely'
import { applicationRoles, projectRoles } from '../../policy/roles.ts'
import type { Tx } from '../../platform/postgres/handles.ts'

export type ObjectKind = 'project' | 'tenant' | 'application'

/** The people whose roles are compared, the objects, and rules that give nothing because they are about to be deleted. */
export type Comparison = {
  userIds: readonly string[]
  objectIds: readonly string[]
  excludedRuleIds: readonly string[]
}

/** A rule, its object and its role. */
export type RuleFacts = {
  ruleId: string
  projectId: string
  groupId: string
  tenantId: string | null
  applicationId: string | null
  role: string
}

/** The people to whom a rule now gives its role, or no longer gives it. */
export type GroupRoleChange = RuleFacts & {
  action: 'grant' | 'revoke'
  userIds: string[]
  /** Those who are not members of the object anymore. */
  lostUserIds: string[]
}

type Target = {
  members: RawBuilder<unknown>
  roleColumn: RawBuilder<unknown>
  /** The objects themselves, whose rows serialize changes of the members. */
  objects: RawBuilder<unknown>
  /** The column with the object in a rule and in a membership. */
  object: RawBuilder<unknown>
  ofKind: RawBuilder<unknown>
  /** The rule that wins if several rules give the person a role in the object. */
  precedence: RawBuilder<unknown>
}

const createRankSql = (roles: readonly string[]): RawBuilder<unknown> =>
  sql`array_position(${roles}::text[], r.role) desc, r.id`

const targets: Record<ObjectKind, Target> = {
  project: {
    members: sql`user2projects`,
    roleColumn: sql`role`,
    objects: sql`projects`,
    object: sql`project_id`,
    ofKind: sql`r.tenant_id is null and r.application_id is null`,
    precedence: createRankSql(projectRoles),
  },
  tenant: {
    members: sql`user2tenants`,
    roleColumn: sql`role_name`,
    objects: sql`tenants`,
    object: sql`tenant_id`,
    ofKind: sql`r.tenant_id is not null`,
    // Tenant roles are sets of permissions, so none of them is the highest.
    precedence: sql`r.id`,
  },
  application: {
    members: sql`user2applications`,
    roleColumn: sql`role`,
    objects: sql`applications`,
    object: sql`application_id`,
    ofKind: sql`r.application_id is not null`,
    precedence: createRankSql(applicationRoles),
  },
}

/** Serializes changes of the members of these objects, in a fixed order. */
export async function lockObjects(tx: Tx, kind: ObjectKind, objectIds: readonly string[]): Promise<void> {
  await sql`
    select id from ${targets[kind].objects} where id = any(${objectIds}::uuid[]) order by id for no key update`.execute(
    tx,
  )
}

/** Selects the role that the rules give to each person in each object; `m` is a member of a group and `r` its rule. */
const createWantedSql = (
  { object, ofKind, precedence }: Target,
  { people, objectIds, excludedRuleIds }: Omit<Comparison, 'userIds'> & { people: RawBuilder<unknown> },
): RawBuilder<unknown> => sql`
  select distinct on (r.${object}, m.user_id) r.project_id, r.tenant_id, r.application_id, m.user_id, r.id as rule_id, r.role
  from ${people} join scim_group_members m on m.user_id = people.user_id
    join group_rules r on r.group_id = m.group_id
  where ${ofKind} and r.${object} = any(${objectIds}::uuid[]) and r.id <> all(${excludedRuleIds}::uuid[])
  order by r.${object}, m.user_id, ${precedence}`

/** Returns the role that the rules give to a person in an object, whether or not the person has a direct role. */
export async function findWantedRole(
  tx: Tx,
  kind: ObjectKind,
  { userId, objectId }: { userId: string; objectId: string },
): Promise<string | null> {
  const people = sql`(select ${userId}::uuid as user_id) people`
  const wanted = createWantedSql(targets[kind], { people, objectIds: [objectId], excludedRuleIds: [] })
  const { rows } = await sql<{ role: string }>`select role from (${wanted}) wanted`.execute(tx)
  return rows[0]?.role ?? null
}

/** Returns the object and the role of a rule. */
export const findRule = (tx: Tx, id: string): Promise<RuleFacts | undefined> =>
  tx
    .selectFrom('groupRules')
    .select(['id as ruleId', 'projectId', 'groupId', 'tenantId', 'applicationId', 'role'])
    .where('id', '=', id)
    .executeTakeFirst()

/** Gives and takes roles until they agree with the rules. Returns the changes by rule. Call `lockObjects` first. */
export async function applyRules(
  tx: Tx,
  kind: ObjectKind,
  { userIds, ...scope }: Comparison,
): Promise<GroupRoleChange[]> {
  const target = targets[kind]
  const { members, roleColumn, object } = target
  const keyColumns = kind === 'project' ? sql`project_id` : sql`project_id, ${object}`
  const { rows } = await sql<GroupRoleChange>`
    with people as (select unnest(${userIds}::uuid[]) as user_id),
    wanted as (${createWantedSql(target, { ...scope, people: sql`people` })}),
    existing as (
      select e.id, e.${object}, e.user_id, e.group_rule_id as rule_id, e.${roleColumn} as role
      from people join ${members} e on e.user_id = people.user_id
      where e.${object} = any(${scope.objectIds}::uuid[]) and e.group_rule_id is not null
    ),
    revoked as (
      delete from ${members} e using existing x
      where e.id = x.id and e.group_rule_id is not null and not exists (
        select from wanted w where w.${object} = x.${object} and w.user_id = x.user_id)
      returning x.rule_id, x.role, x.user_id
    ),
    changed as (
      update ${members} e set ${roleColumn} = w.role, group_rule_id = w.rule_id, updated_at = now()
      from wanted w join existing x on x.${object} = w.${object} and x.user_id = w.user_id
      where e.id = x.id and e.group_rule_id is not null and (x.rule_id <> w.rule_id or x.role <> w.role)
      returning x.rule_id as old_rule_id, x.role as old_role, w.rule_id, w.role, w.user_id
    ),
    granted as (
      insert into ${members} (id, ${keyColumns}, user_id, ${roleColumn}, group_rule_id)
      select gen_random_uuid(), ${keyColumns}, user_id, role, rule_id from wanted
      on conflict (${object}, user_id) do nothing
      returning group_rule_id as rule_id, ${roleColumn} as role, user_id
    ),
    changes as (
      select 'revoke' as action, rule_id, role, user_id, true as is_lost from revoked
      union all select 'revoke', old_rule_id, old_role, user_id, false from changed where old_rule_id <> rule_id
      union all select 'grant', rule_id, role, user_id, false from changed
      union all select 'grant', rule_id, role, user_id, false from granted
    )
    select c.action, c.rule_id, c.role, r.project_id, r.group_id, r.tenant_id, r.application_id,
      array_agg(c.user_id order by c.user_id) as user_ids,
      coalesce(array_agg(c.user_id) filter (where c.is_lost), '{}') as lost_user_ids
    from changes c join group_rules r on r.id = c.rule_id
    group by c.action, c.rule_id, c.role, r.id order by c.rule_id, c.action desc, c.role`.execute(tx)
  return rows
}
