// Calls about memberships, alike for projects, tenants and applications, and what tests say about their answers.
import { expect } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import type { TestApp } from './app.ts'
import type { GraphqlAnswer } from '@manager/harness/graphql.ts'

type Noun = 'Project' | 'Tenant' | 'Application'
type Call = (caller: Person, variables: Record<string, string>) => Promise<GraphqlAnswer>
type MemberCalls = Record<'add' | 'update' | 'remove' | 'list' | 'get', Call> & {
  /** The role a row holds in the database, or null. */
  roleOf: (id: string) => Promise<string | null>
}

/** The five operations; `$of` names the project, tenant or application. The service is asked for at each call. */
export function memberCalls(noun: Noun, service: () => TestApp): MemberCalls {
  const thing = noun.toLowerCase()
  const role = noun === 'Tenant' ? 'roleName' : 'role'
  const row = `id ${role} user { id externalName } ${thing} { id slug }`
  const call =
    (operation: string, field: string): Call =>
    (caller, variables) =>
      service().query(caller, `${operation} { ${field} }`, variables)
  return {
    add: call(
      'mutation($of: ID!, $userID: ID!, $role: String!)',
      `row: addUserTo${noun}(${thing}ID: $of, userID: $userID, ${role}: $role) { ${row} }`,
    ),
    update: call(
      'mutation($id: ID!, $role: String!)',
      `row: updateUser${noun}Role(id: $id, ${role}: $role) { ${row} }`,
    ),
    remove: call('mutation($id: ID!)', `removeUserFrom${noun}(id: $id)`),
    list: call('query($of: ID!)', `rows: user2${thing}s(${thing}: $of) { ${row} }`),
    get: call('query($of: ID!, $id: ID!)', `row: user2${thing}(${thing}: $of, id: $id) { ${row} }`),
    roleOf: async (id) => {
      const column = noun === 'Tenant' ? 'role_name' : 'role'
      const { rows } = await service().sql.query<{ role: string }>(
        `select ${column} as role from user2${thing}s where id = $1`,
        [id],
      )
      return rows[0]?.role ?? null
    },
  }
}

export const uuid: unknown = expect.stringMatching(/^[0-9a-f-]{36}$/)

/** The error code of an answer. */
export const codeOf = (answer: GraphqlAnswer): string | undefined => answer.errors[0]?.extensions?.code

/** The operation failed with this code and answered nothing. */
export function expectRefused(answer: GraphqlAnswer, code: string): void {
  expect(codeOf(answer)).toBe(code)
  expect(answer.data).toBeNull()
}
