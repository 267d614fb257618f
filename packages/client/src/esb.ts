import type { Connection } from './connection.ts'
import { pathOf } from './names.ts'
import { type CallOptions, type RequestContent, exchange } from './request.ts'

export type EsbCall = {
  applicationId: string
  /** The endpoint's consumeURL, and a query if there is one. */
  path: string
  /** GET, or POST with a body, if absent. */
  method?: string
  headers?: Readonly<Record<string, string>>
  body?: RequestContent
}

/**
 * Calls an endpoint through the gateway. The answer is the endpoint's own, whatever its status, or the gateway's refusal;
 * only GET and HEAD are repeated, and what was refused with 429.
 */
export async function callEsb(
  connection: Connection,
  { applicationId, path, method, headers, body }: EsbCall,
  { signal }: CallOptions = {},
): Promise<Response> {
  if (!path.startsWith('/')) throw new TypeError(`path must begin with a slash: ${path}`)
  const used = (method ?? (body === undefined ? 'GET' : 'POST')).toUpperCase()
  const type = Object.entries(headers ?? {}).find(([name]) => name.toLowerCase() === 'content-type')?.[1]
  return exchange(
    connection,
    {
      method: used,
      path: `/esb${pathOf([applicationId])}${path}`,
      headers,
      body: body === undefined ? undefined : { content: body, type },
      signal,
      isRepeatable: used === 'GET' || used === 'HEAD',
    },
    (response) => Promise.resolve(response),
  )
}
