// Operations on the groups of identity providers and their rules. Only administrators may use them.
import { type SeededProject, seedUser } from '@manager/harness/seed.ts'
import { seedGroup } from '../kit/groups.ts'
import { type Operation, op } from './operation.ts'
import { type MatrixWorld, newSlug } from './world.ts'

const makeGroup = async ({ service }: MatrixWorld): Promise<string> => {
  const { id } = await seedUser(service.sql, newSlug())
  return seedGroup(service, newSlug(), [id])
}

/** Inserts a rule and the role that it gives, without rows in the audit trail. */
async function makeRule({ service, people }: MatrixWorld, target: SeededProject): Promise<string> {
  const { id: userId } = await seedUser(service.sql, newSlug())
  const { rows } = await service.sql.query<{ id: string }>(
    `with rule as (
       insert into group_rules (id, project_id, group_id, role, creator_id)
       values (gen_random_uuid(), $1, $2, 'tester', $3) returning id
     ), given as (
       insert into user2projects (id, project_id, user_id, role, group_rule_id)
       select gen_random_uuid(), $1, $4, 'tester', id from rule
     )
     select id from rule`,
    [target.id, await seedGroup(service, newSlug(), [userId]), people.administrator.id, userId],
  )
  return rows[0]?.id as string
}

const rule = (fields: string) => (_: SeededProject, id: string) =>
  `{ groupRules(filters: [{field: "id", value: "${id}"}]) { ${fields} } }`

export const groupOperations: Operation[] = [
  op('Query.provisionedGroups', 'system', [], () => '{ provisionedGroups { id } }', { make: makeGroup }),
  op('Query.provisionedGroup', 'system', [], (_, id) => `{ provisionedGroup(id: "${id}") { id } }`, {
    make: makeGroup,
  }),
  op('Query.groupMembers', 'system', [], (_, id) => `{ groupMembers(group: "${id}") { id } }`, {
    make: makeGroup,
  }),
  op('GroupMember.user', 'system', [], (_, id) => `{ groupMembers(group: "${id}") { user { id } } }`, {
    make: makeGroup,
  }),
  op('Query.groupRules', 'system', [], rule('id'), { make: makeRule }),
  op('GroupRule.group', 'system', [], rule('group { id }'), { make: makeRule }),
  op('GroupRule.project', 'system', [], rule('project { id }'), { make: makeRule }),
  op('GroupRule.tenant', 'system', [], rule('tenant { id }'), { make: makeRule }),
  op('GroupRule.application', 'system', [], rule('application { id }'), { make: makeRule }),
  op('GroupRule.creator', 'system', [], rule('creator { id }'), { make: makeRule }),
  op(
    'Mutation.createGroupRule',
    'system',
    [],
    ({ id: projectId }, groupId) =>
      `mutation { createGroupRule(input: {groupId: "${groupId}", projectId: "${projectId}", role: "tester"}) { id } }`,
    { make: makeGroup },
  ),
  op(
    'Mutation.updateGroupRule',
    'system',
    [],
    (_, id) => `mutation { updateGroupRule(id: "${id}", role: "developer") { id } }`,
    { make: makeRule },
  ),
  op('Mutation.deleteGroupRule', 'system', [], (_, id) => `mutation { deleteGroupRule(id: "${id}") }`, {
    make: makeRule,
    consumes: true,
  }),
]
