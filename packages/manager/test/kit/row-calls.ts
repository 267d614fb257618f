// Mutations that every type of entity below an application has.
import type { Person } from '@manager/harness/callers.ts'
import type { TestApp } from './app.ts'
import type { GraphqlAnswer } from '@manager/harness/graphql.ts'

export type Input = Record<string, unknown>
type QueryTarget = Pick<TestApp, 'query'>

/**
 * Returns the create, update and remove calls for `entityType`. Their result is aliased to `row`. `service` is read on
 * each call.
 */
export function rowCalls(service: () => QueryTarget, entityType: string, fields: string) {
  const query = (caller: Person, text: string, variables: Input): Promise<GraphqlAnswer> =>
    service().query(caller, text, variables)
  return {
    query,
    create: (caller: Person, applicationId: string, input: Input) =>
      query(
        caller,
        `mutation($applicationId: ID!, $input: Create${entityType}Input!) {
          row: create${entityType}(applicationId: $applicationId, input: $input) { ${fields} } }`,
        { applicationId, input },
      ),
    update: (caller: Person, id: string, input: Input) =>
      query(
        caller,
        `mutation($id: ID!, $input: Update${entityType}Input!) {
          row: update${entityType}(id: $id, input: $input) { ${fields} } }`,
        { id, input },
      ),
    remove: (caller: Person, id: string) =>
      query(caller, `mutation($id: ID!) { done: delete${entityType}(id: $id) }`, { id }),
  }
}
