import type { Connection } from './connection.ts'
import { GraphqlError, type GraphqlErrorEntry, ResponseError } from './errors.ts'
import { type CallOptions, sendForJson } from './request.ts'

/**
 * The text of an operation, with the types of its variables and its result. `@manager/client/documents`
 * contains many documents.
 */
export type TypedDocument<Result, Variables> = string & {
  readonly __types?: (variables: Variables) => Result
}
type GraphqlResponse<Result> = { data?: Result | null; errors?: readonly GraphqlErrorEntry[] }

/**
 * Runs an operation. Queries are retried after temporary failures. Mutations are retried only if they were
 * rejected with 429.
 */
export async function graphql<Result, Variables extends Readonly<Record<string, unknown>>>(
  connection: Connection,
  document: TypedDocument<Result, Variables>,
  variables: Variables,
  { signal }: CallOptions = {},
): Promise<Result> {
  const { data, errors } = await sendForJson<GraphqlResponse<Result>>(connection, {
    method: 'POST',
    path: '/query',
    json: { query: document, variables },
    signal,
    isRepeatable: /^\s*(query\b|\{)/.test(document),
  }).catch(readRejection)
  if (errors !== undefined || data === null || data === undefined) throw new GraphqlError(errors ?? [])
  return data
}

/**
 * Returns the GraphQL errors of an error response. An operation that fails schema validation returns an error
 * status with a list of errors.
 */
function readRejection(error: unknown): GraphqlResponse<never> {
  const errors =
    error instanceof ResponseError ? (error.body as GraphqlResponse<never> | null)?.errors : undefined
  if (!Array.isArray(errors)) throw error
  return { errors }
}
