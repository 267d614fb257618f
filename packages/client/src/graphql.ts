import type { Connection } from './connection.ts'
import { GraphqlError, type GraphqlErrorEntry, ResponseError } from './errors.ts'
import { type CallOptions, sendForJson } from './request.ts'

/** The text of an operation that knows what it takes and what it gives; `@manager/client/documents` has many. */
export type TypedDocument<Result, Variables> = string & {
  readonly __types?: (variables: Variables) => Result
}
type Answer<Result> = { data?: Result | null; errors?: readonly GraphqlErrorEntry[] }

/** Runs an operation. A query is repeated when it fails in passing; a mutation never is, unless it was refused unseen. */
export async function graphql<Result, Variables extends Readonly<Record<string, unknown>>>(
  connection: Connection,
  document: TypedDocument<Result, Variables>,
  variables: Variables,
  { signal }: CallOptions = {},
): Promise<Result> {
  const { data, errors } = await sendForJson<Answer<Result>>(connection, {
    method: 'POST',
    path: '/query',
    json: { query: document, variables },
    signal,
    isRepeatable: /^\s*(query\b|\{)/.test(document),
  }).catch(refusalOf)
  if (errors !== undefined || data === null || data === undefined) throw new GraphqlError(errors ?? [])
  return data
}

/** An operation that does not hold against the schema is answered with a status of its own, and says why as others do. */
function refusalOf(error: unknown): Answer<never> {
  const errors = error instanceof ResponseError ? (error.body as Answer<never> | null)?.errors : undefined
  if (!Array.isArray(errors)) throw error
  return { errors }
}
