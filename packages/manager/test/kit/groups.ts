// Groups of identity providers, their rules, and the roles that the rules give.
import { randomUUID } from 'node:crypto'
import type { Person } from '@manager/harness/callers.ts'
import type { GraphqlAnswer } from '@manager/harness/graphql.ts'
import type { TestApp } from './app.ts'
import { useProject } from './project.ts'
import { createScimClient, createScimToken, newUser, patchSchema } from './scim.ts'

/** Inserts a group with members, as SCIM does. */
export async function seedGroup(
  { sql }: Pick<TestApp, 'sql'>,
  displayName: string,
  userIds: readonly string[],
): Promise<string> {
  const id = randomUUID()
  await sql.query(
    `insert into scim_users (user_id, user_name, active) select id, id::text, true from unnest($1::uuid[]) as id
     on conflict do nothing`,
    [userIds],
  )
  await sql.query('insert into scim_groups (id, display_name, member_count) values ($1, $2, $3)', [
    id,
    displayName,
    userIds.length,
  ])
  await sql.query(
    'insert into scim_group_members (group_id, user_id) select $1, id from unnest($2::uuid[]) as id',
    [id, userIds],
  )
  return id
}

/** Creates a rule through the front door. */
export async function createRule(service: TestApp, admin: Person, input: RuleInput): Promise<string> {
  const { data, error } = await service.query(
    admin,
    'mutation($input: CreateGroupRuleInput!) { rule: createGroupRule(input: $input) { id } }',
    { input },
  )
  if (error !== null) throw new Error(`createGroupRule(${JSON.stringify(input)}): ${error}`)
  return data.rule.id as string
}

export type RuleInput = {
  groupId: string
  role: string
  projectId?: string
  tenantId?: string
  applicationId?: string
}
type GroupOperation = { op: string; path?: string; value?: unknown }

/** Starts a service with an identity provider, which creates people and groups over SCIM. */
export function useGroups() {
  const context = useProject({ withOther: true })
  const { service, admin } = context
  let token: Promise<string> | null = null
  const send: ReturnType<typeof createScimClient>['send'] = async (method, path, options) => {
    token ??= createScimToken(service, admin).then((created) => created.token)
    const secret = await token
    const { send: sendScim } = createScimClient(
      () => service,
      () => secret,
    )
    return sendScim(method, path, options)
  }
  const ask = (caller: Person, text: string, variables: object): Promise<GraphqlAnswer> =>
    service.query(caller, text, variables as Record<string, unknown>)
  return {
    ...context,
    send,

    /** Provisions a person, who has never signed in. */
    provision: async (change: Record<string, unknown> = {}): Promise<Person> => {
      const email = `${randomUUID()}@example.com`
      const body = newUser({ emails: [{ value: email, primary: true }], ...change })
      const { status } = await send('POST', '/Users', { body })
      if (status !== 201) throw new Error(`POST /Users returned ${status}`)
      const name = String(body.displayName)
      return { id: body.externalId, name, email }
    },

    /** Creates a group over SCIM and returns its id. */
    createGroup: async (
      members: readonly Person[],
      displayName = `group ${randomUUID()}`,
    ): Promise<string> => {
      const body = { displayName, members: members.map(({ id }) => ({ value: id })) }
      const answer = await send('POST', '/Groups', { body })
      if (answer.status !== 201) throw new Error(`POST /Groups: ${JSON.stringify(answer.body)}`)
      return answer.body.id as string
    },

    patchGroup: (id: string, operations: readonly GroupOperation[]) =>
      send('PATCH', `/Groups/${id}`, { body: { schemas: [patchSchema], Operations: operations } }),

    rules: {
      create: (caller: Person, input: RuleInput) =>
        ask(
          caller,
          `mutation($input: CreateGroupRuleInput!) { rule: createGroupRule(input: $input) {
            id role revision group { id } project { id } tenant { id } application { id } creator { id } } }`,
          { input },
        ),
      update: (caller: Person, id: string, role: string, expectedRevision?: number) =>
        ask(
          caller,
          `mutation($id: ID!, $role: String!, $expectedRevision: Int) {
            rule: updateGroupRule(id: $id, role: $role, expectedRevision: $expectedRevision) { id role revision } }`,
          { id, role, expectedRevision },
        ),
      remove: (caller: Person, id: string) =>
        ask(caller, 'mutation($id: ID!) { removed: deleteGroupRule(id: $id) }', { id }),
    },

    /** Returns the roles of a person as lines such as `project <id> owner by rule`. */
    rolesOf: async ({ id }: Person): Promise<string[]> => {
      const { rows } = await service.sql.query<{ line: string }>(
        `select kind || ' ' || object || ' ' || role || case when rule is null then ' directly' else ' by rule' end as line from (
           select 'project' as kind, project_id as object, role, group_rule_id as rule from user2projects where user_id = $1
           union all select 'tenant', tenant_id, role_name, group_rule_id from user2tenants where user_id = $1
           union all select 'application', application_id, role, group_rule_id from user2applications where user_id = $1
         ) roles order by line`,
        [id],
      )
      return rows.map(({ line }) => line)
    },
  }
}
