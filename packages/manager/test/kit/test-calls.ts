// Makes test calls to endpoints through GraphQL.
import type { Person } from '@manager/harness/callers.ts'
import type { GraphqlAnswer } from '@manager/harness/graphql.ts'
import type { TestApp } from './app.ts'

export type TestCallInput = {
  machineUserId: string
  method?: string
  query?: string
  headers?: { name: string; value: string }[]
  body?: string
}

/** Makes a test call. The result is aliased to `call`. */
export const testEndpoint = (
  service: TestApp,
  person: Person,
  endpointId: string,
  input: TestCallInput,
): Promise<GraphqlAnswer> =>
  service.query(
    person,
    `mutation($endpointId: ID!, $input: CreateEndpointTestCallInput!) {
      call: testEndpoint(endpointId: $endpointId, input: $input) {
        requestId responseStatus durationMs transformationApplied responseHeaders { name value } responseBody failure } }`,
    { endpointId, input: { method: 'GET', ...input } },
  )
