import type { Connection } from './connection.ts'
import { encodePath } from './names.ts'
import { type CallOptions, type RequestContent, exchange } from './request.ts'

export type EsbCall = {
  applicationId: string
  /** The consumeURL of the endpoint, with an optional query. */
  path: string
  /** The default is POST with a body and GET without a body. */
  method?: string
  headers?: Readonly<Record<string, string>>
  body?: RequestContent
}

/**
 * Calls an endpoint through the gateway. Returns the response of the endpoint or of the gateway, whatever its
 * status. Only GET and HEAD requests, and requests rejected with 429, are retried.
 */
export async function callEsb(
  connection: Connection,
  { applicationId, path, method, headers, body }: EsbCall,
  { signal }: CallOptions = {},
): Promise<Response> {
  if (!path.startsWith('/')) throw new TypeError(`path must start with a slash: ${path}`)
  const usedMethod = (method ?? (body === undefined ? 'GET' : 'POST')).toUpperCase()
  const type = Object.entries(headers ?? {}).find(([name]) => name.toLowerCase() === 'content-type')?.[1]
  return exchange(
    connection,
    {
      method: usedMethod,
      path: `/esb${encodePath([applicationId])}${path}`,
      headers,
      body: body === undefined ? undefined : { content: body, type },
      signal,
      isRepeatable: usedMethod === 'GET' || usedMethod === 'HEAD',
    },
    (response) => Promise.resolve(response),
  )
}
