// Sends calls at a steady rate over keep-alive connections.
import { Agent, request } from 'node:http'

export type SteadyCall = { url: string; headers: Record<string, string>; body?: string }
export type TimedAnswer = { status: number; body: string; startedAt: number; answeredAt: number }

/**
 * Sends calls at a constant rate, even if earlier calls have not completed. `next` returns the call and a handler for
 * its response. While 256 calls are in flight, calls are skipped, because a backlog would distort the measurement.
 */
export function startSteady(
  perSecond: number,
  next: () => { call: SteadyCall; onAnswer: (answer: TimedAnswer) => void },
): { stop(): Promise<void> } {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const [tickMs, maxInFlight] = [10, 256]
  const startedAt = performance.now()
  let sent = 0
  const inFlight = new Set<Promise<void>>()
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - startedAt) / 1_000) * perSecond)
    for (; sent < due; sent++) {
      if (inFlight.size >= maxInFlight) continue
      const { call, onAnswer } = next()
      const use = send(agent, call)
        .then(onAnswer)
        .finally(() => inFlight.delete(use))
      inFlight.add(use)
    }
  }, tickMs)
  return {
    stop: async () => {
      clearInterval(timer)
      await Promise.all(inFlight)
      agent.destroy()
    },
  }
}

function send(agent: Agent, { url, headers, body }: SteadyCall): Promise<TimedAnswer> {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
    const json = body === undefined ? {} : { 'content-type': 'application/json' }
    const method = body === undefined ? 'GET' : 'POST'
    const startedAt = performance.now()
    const outgoing = request(
      url,
      { method, agent, headers: { ...json, ...length, ...headers } },
      (response) => {
        let text = ''
        response.on('data', (chunk: Buffer) => (text += chunk.toString()))
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, body: text, startedAt, answeredAt: performance.now() }),
        )
      },
    )
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}
