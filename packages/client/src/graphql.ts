import type { Connection } from './connection.ts'
import { GraphqlError, type GraphqlErrorEntry, ResponseError } from './errors.ts'
import { type CallOptions, sendForJson } from './request.ts'

/**
 * The text of an operation, and the types of its variables and its result. `@manager/client/documents` contains a
 * document for nearly every operation.
 */
export type TypedDocument<Result, Variables> = string & {
  readonly __types?: (variables: Variables) => Result
}
type GraphqlResponse<Result> = {
  data?: Result | null
  errors?: readonly GraphqlErrorEntry[]
  retryAfterMs?: number | null
}

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
  const { data, errors, retryAfterMs } = await sendForJson<GraphqlResponse<Result>>(connection, {
    method: 'POST',
    path: '/query',
    json: { query: document, variables },
    signal,
    isRepeatable: /^\s*(query\b|\{)/.test(document),
  }).catch(readRejection)
  if (errors !== undefined || data === null || data === undefined)
    throw new GraphqlError(errors ?? [], retryAfterMs === undefined ? {} : { retryAfterMs })
  return data
}

/**
 * Returns the GraphQL errors of an error response. An operation that fails schema validation returns an error
 * status with a list of errors.
 */
function readRejection(error: unknown): GraphqlResponse<never> {
  if (!(error instanceof ResponseError)) throw error
  const errors = (error.body as GraphqlResponse<never> | null)?.errors
  if (!Array.isArray(errors)) throw error
  return { errors, retryAfterMs: error.retryAfterMs }
}
