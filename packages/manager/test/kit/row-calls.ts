// The mutations that every kind of row below an application has.
import type { Person } from '@manager/harness/callers.ts'
import type { TestApp } from './app.ts'
import type { GraphqlAnswer } from '@manager/harness/graphql.ts'

export type Input = Record<string, unknown>
type Asked = Pick<TestApp, 'query'>

/** create, update and remove of `noun`, with `row` for their result. The service is asked for at each call. */
export function rowCalls(service: () => Asked, noun: string, fields: string) {
  const query = (caller: Person, text: string, variables: Input): Promise<GraphqlAnswer> =>
    service().query(caller, text, variables)
  return {
    query,
    create: (caller: Person, applicationId: string, input: Input) =>
      query(
        caller,
        `mutation($applicationId: ID!, $input: Create${noun}Input!) {
          row: create${noun}(applicationId: $applicationId, input: $input) { ${fields} } }`,
        { applicationId, input },
      ),
    update: (caller: Person, id: string, input: Input) =>
      query(
        caller,
        `mutation($id: ID!, $input: Update${noun}Input!) {
          row: update${noun}(id: $id, input: $input) { ${fields} } }`,
        { id, input },
      ),
    remove: (caller: Person, id: string) =>
      query(caller, `mutation($id: ID!) { done: delete${noun}(id: $id) }`, { id }),
  }
}
