// Sends GraphQL operations to POST /query.
type GraphqlError = { message: string; path?: (string | number)[]; extensions?: { code?: string } }
export type GraphqlAnswer = {
  status: number
  // oxlint-disable-next-line typescript/no-explicit-any -- the shape of data follows the query
  data: any
  errors: GraphqlError[]
  /** The message of the first error, or null. */
  error: string | null
  extensions: { truncatedLists?: { path: (string | number)[]; limit: number }[] } | undefined
  headers: Headers
}

/**
 * Executes one operation. If the gate rejects the request, the response is not GraphQL and `error` contains
 * the response text.
 */
export async function postQuery(
  url: string,
  headers: Record<string, string>,
  query: string,
  variables?: Record<string, unknown>,
): Promise<GraphqlAnswer> {
  const response = await fetch(`${url}/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query, variables }),
  })
  const body = (await response.json()) as {
    data?: unknown
    errors?: GraphqlError[]
    error?: string
    extensions?: GraphqlAnswer['extensions']
  }
  const errors = body.errors ?? []
  return {
    status: response.status,
    data: body.data ?? null,
    errors,
    error: errors[0]?.message ?? body.error ?? null,
    extensions: body.extensions,
    headers: response.headers,
  }
}

/** Sends a raw body. */
export async function postBody(url: string, headers: Record<string, string>, body: string) {
  const response = await fetch(`${url}/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  })
  const text = await response.text()
  return {
    status: response.status,
    body: JSON.parse(text) as Record<string, unknown>,
    headers: response.headers,
  }
}
export const json = (query: string, more: object = {}): string => JSON.stringify({ query, ...more })

/** Returns a body with a variable that is a long list of invalid values. */
export const manyWrongVariables = (): string =>
  json('query($f: [Filter!]) { projects(filters: $f) { id } }', {
    variables: { f: Array.from({ length: 39_000 }, () => 1) },
  })
