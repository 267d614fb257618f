// How the callers of the mixed load reach the service: through the balancer, once for each call, and not for ever.
import { Agent, request } from 'undici'

/** `status` is 0 when there was no answer. */
export type Answer = { status: number; headers: Record<string, string | string[] | undefined>; text: string }
type Sent = {
  method?: 'GET' | 'POST' | 'PUT'
  headers?: Record<string, string>
  /** Sent as JSON, or as it is. */
  body?: object | Buffer
}
export type Client = {
  send(path: string, sent: Sent): Promise<Answer>
  /** Paths of 503s and 429s that did not say when to come again. */
  withoutRetryAfter: string[]
  /** Paths at which the proxy's secret was refused, although one was sent. */
  refusedAtGate: string[]
  end(): Promise<void>
}

/** Nobody waits longer. */
export const callMs = 15_000

/** Calls this address. */
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

/** Whether this is the answer to a GraphQL operation that succeeded; errors may come with 200. */
export const hasData = ({ status, text }: Answer): boolean => status === 200 && !text.includes('"errors"')

/** The status of a GraphQL operation as its caller takes it: one that failed with 200 was refused. */
export const graphqlStatus = (answer: Answer): number =>
  answer.status === 200 && !hasData(answer) ? 400 : answer.status
