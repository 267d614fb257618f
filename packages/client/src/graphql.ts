import type { Connection } from './connection.ts'
import { GraphqlError, type GraphqlErrorEntry } from './errors.ts'
import { type CallOptions, sendForJson } from './request.ts'

/** The text of an operation that knows what it takes and what it gives; `npm run generate` writes them. */
export type TypedDocument<Result, Variables> = string & {
  readonly __types?: (variables: Variables) => Result
}

/** Runs an operation. A query is repeated when it fails in passing; a mutation never is, unless it was refused unseen. */
export async function graphql<Result, Variables extends Readonly<Record<string, unknown>>>(
  connection: Connection,
  document: TypedDocument<Result, Variables>,
  variables: Variables,
  { signal }: CallOptions = {},
): Promise<Result> {
  const { data, errors } = await sendForJson<{ data?: Result | null; errors?: GraphqlErrorEntry[] }>(
    connection,
    {
      method: 'POST',
      path: '/query',
      json: { query: document, variables },
      signal,
      isRepeatable: /^\s*(query\b|\{)/.test(document),
    },
  )
  if (errors !== undefined || data === null || data === undefined) throw new GraphqlError(errors ?? [])
  return data
}
