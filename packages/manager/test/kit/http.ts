// Sends raw HTTP requests that fetch cannot send: with repeated headers, with unusual paths, or without headers.
import { type Agent, type RequestOptions, request } from 'node:http'

export type RawAnswer = { status: number; headers: NodeJS.Dict<string | string[]>; body: string }
export type RawCall = {
  method?: string
  path: string
  host?: string
  headers?: [string, string][]
  body?: string
}

/** Sends a request with exactly these header lines, in this order. */
export function rawCall(url: string, call: RawCall): Promise<RawAnswer> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const lines = (call.headers ?? []).flat()
    const length = call.body === undefined ? [] : ['content-length', String(Buffer.byteLength(call.body))]
    const outgoing = request(
      {
        hostname,
        port,
        method: call.method ?? 'GET',
        path: call.path,
        headers: ['host', call.host ?? 'localhost', ...lines, ...length],
        agent: false,
      },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks).toString('utf8'),
          }),
        )
      },
    )
    outgoing.on('error', reject)
    outgoing.end(call.body)
  })
}

/**
 * Sends one request over a keep-alive connection. Returns the status and the milliseconds until the response has
 * ended.
 */
export const timedGet = (agent: Agent, url: string, headers: Record<string, string>) =>
  timed(url, { method: 'GET', agent, headers })

/** Does the same as `timedGet` for a POST with a JSON body. */
export function timedPost(agent: Agent, url: string, headers: Record<string, string>, body: string) {
  const length = Buffer.byteLength(body)
  const all = { 'content-type': 'application/json', 'content-length': length, ...headers }
  return timed(url, { method: 'POST', agent, headers: all }, body)
}

function timed(url: string, options: RequestOptions, body?: string): Promise<{ status: number; ms: number }> {
  return new Promise((resolve, reject) => {
    const start = performance.now()
    const outgoing = request(url, options, (response) => {
      response.resume()
      response.on('end', () => resolve({ status: response.statusCode ?? 0, ms: performance.now() - start }))
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}
