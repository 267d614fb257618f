// HTTP client of the mixed load. It calls through the load balancer, without retries and with a timeout.
import { Agent, request } from 'undici'

/** `status` is 0 if no response arrived. */
export type Answer = { status: number; headers: Record<string, string | string[] | undefined>; text: string }
type CallOptions = {
  method?: 'GET' | 'POST' | 'PUT'
  headers?: Record<string, string>
  /** An object is sent as JSON, a buffer unchanged. */
  body?: object | Buffer
}
export type Client = {
  send(path: string, options: CallOptions): Promise<Answer>
  /** Paths of 503 and 429 responses without Retry-After. */
  withoutRetryAfter: string[]
  /** Paths of requests whose proxy secret the service rejected. */
  refusedAtGate: string[]
  end(): Promise<void>
}

/** Timeout of a call. */
export const callMs = 15_000

/** Creates a client for this URL. It never throws: a failed call has status 0. */
export function createClient(url: string): Client {
  const agent = new Agent({ connections: 256, keepAliveTimeout: 1_000, connect: { timeout: callMs } })
  const [withoutRetryAfter, refusedAtGate]: [string[], string[]] = [[], []]
  return {
    withoutRetryAfter,
    refusedAtGate,
    send: async (path, { method, headers = {}, body }) => {
      const bytes = body === undefined || Buffer.isBuffer(body) ? body : JSON.stringify(body)
      const json = typeof bytes === 'string' ? { 'content-type': 'application/json' } : {}
      try {
        const answer = await request(url + path, {
          method: method ?? (body === undefined ? 'GET' : 'POST'),
          headers: { ...json, ...headers },
          dispatcher: agent,
          signal: AbortSignal.timeout(callMs),
          ...(bytes === undefined ? {} : { body: bytes }),
        })
        const text = await answer.body.text()
        const { statusCode: status, headers: answered } = answer
        if ((status === 503 || status === 429) && answered['retry-after'] === undefined)
          withoutRetryAfter.push(`${path} ${status} ${text.slice(0, 100)}`)
        if (status === 401 && headers['x-proxy-auth'] !== undefined && text.includes('X-Proxy-Auth'))
          refusedAtGate.push(`${path} ${text.slice(0, 100)}`)
        return { status, headers: answered, text }
      } catch {
        return { status: 0, headers: {}, text: '' }
      }
    },
    end: () => agent.close(),
  }
}

/** Returns whether a GraphQL operation succeeded. A response that contains errors may also have status 200. */
export const hasData = ({ status, text }: Answer): boolean => status === 200 && !text.includes('"errors"')

/**
 * Returns the effective status of a GraphQL operation: a response that contains errors counts as 400 if its status is
 * 200.
 */
export const graphqlStatus = (answer: Answer): number =>
  answer.status === 200 && !hasData(answer) ? 400 : answer.status
