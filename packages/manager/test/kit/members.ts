// Membership calls, which are the same for projects, tenants and applications, and assertions on their results.
import { expect } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import type { TestApp } from './app.ts'
import type { GraphqlAnswer } from '@manager/harness/graphql.ts'

type EntityType = 'Project' | 'Tenant' | 'Application'
type Call = (caller: Person, variables: Record<string, string>) => Promise<GraphqlAnswer>
type MemberCalls = Record<'add' | 'update' | 'remove' | 'list' | 'get', Call> & {
  /** Returns the stored role of a row, or null. */
  roleOf: (id: string) => Promise<string | null>
}

/**
 * Returns the five operations. `$of` is the id of the project, tenant or application. `service` is read on each call.
 */
export function memberCalls(entityType: EntityType, service: () => TestApp): MemberCalls {
  const entity = entityType.toLowerCase()
  const role = entityType === 'Tenant' ? 'roleName' : 'role'
  const row = `id ${role} user { id externalName } ${entity} { id slug }`
  const call =
    (operation: string, field: string): Call =>
    (caller, variables) =>
      service().query(caller, `${operation} { ${field} }`, variables)
  return {
    add: call(
      'mutation($of: ID!, $userID: ID!, $role: String!)',
      `row: addUserTo${entityType}(${entity}ID: $of, userID: $userID, ${role}: $role) { ${row} }`,
    ),
    update: call(
      'mutation($id: ID!, $role: String!)',
      `row: updateUser${entityType}Role(id: $id, ${role}: $role) { ${row} }`,
    ),
    remove: call('mutation($id: ID!)', `removeUserFrom${entityType}(id: $id)`),
    list: call('query($of: ID!)', `rows: user2${entity}s(${entity}: $of) { ${row} }`),
    get: call('query($of: ID!, $id: ID!)', `row: user2${entity}(${entity}: $of, id: $id) { ${row} }`),
    roleOf: async (id) => {
      const column = entityType === 'Tenant' ? 'role_name' : 'role'
      const { rows } = await service().sql.query<{ role: string }>(
        `select ${column} as role from user2${entity}s where id = $1`,
        [id],
      )
      return rows[0]?.role ?? null
    },
  }
}

export const uuid: unknown = expect.stringMatching(/^[0-9a-f-]{36}$/)

export const codeOf = (answer: GraphqlAnswer): string | undefined => answer.errors[0]?.extensions?.code

/** Expects that the operation failed with this code and returned no data. */
export function expectRefused(answer: GraphqlAnswer, code: string): void {
  expect(codeOf(answer)).toBe(code)
  expect(answer.data).toBeNull()
}
