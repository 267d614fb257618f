// Whether ended credentials are refused at once: what is recorded, and the check over it.
import { Agent, request } from 'node:http'

/** One use of a credential: when it was sent, when its answer was there, and whether it was accepted. */
export type Use = { credential: string; startedAt: number; answeredAt: number; accepted: boolean }

/** How a credential was ended: when that was asked for and when it was answered. */
export type Ending = { askedAt: number; answeredAt: number }
type Endings = ReadonlyMap<string, Ending>

/** Uses that began after their credential had ended: without any, nothing is shown. */
export const startedAfterEnd = (uses: readonly Use[], endings: Endings): Use[] =>
  uses.filter((use) => use.startedAt > (endings.get(use.credential)?.answeredAt ?? Number.POSITIVE_INFINITY))

/** Those of them that were accepted all the same; there must be none. */
export const acceptedAfterEnd = (uses: readonly Use[], endings: Endings): Use[] =>
  startedAfterEnd(uses, endings).filter((use) => use.accepted)

/** Uses that were refused before anyone had asked for the end of their credential; there must be none either. */
export const refusedBeforeEnd = (uses: readonly Use[], endings: Endings): Use[] =>
  uses.filter(
    (use) =>
      !use.accepted && use.answeredAt < (endings.get(use.credential)?.askedAt ?? Number.POSITIVE_INFINITY),
  )

export type Call = {
  credential: string
  url: string
  headers: Record<string, string>
  body?: string
  isAccepted: (status: number, body: string) => boolean
}

/** Sends calls over kept connections at a steady rate and records each; `next` is asked for every call. */
export function startUses(perSecond: number, next: () => Call, uses: Use[]): { stop(): Promise<void> } {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const tickMs = 10
  const begunAt = performance.now()
  let sent = 0
  const underway = new Set<Promise<void>>()
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - begunAt) / 1_000) * perSecond)
    for (; sent < due; sent++) {
      const use = send(agent, next(), uses).finally(() => underway.delete(use))
      underway.add(use)
    }
  }, tickMs)
  return {
    stop: async () => {
      clearInterval(timer)
      await Promise.all(underway)
      agent.destroy()
    },
  }
}

function send(agent: Agent, call: Call, uses: Use[]): Promise<void> {
  const { credential, body, isAccepted } = call
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
    const json = body === undefined ? {} : { 'content-type': 'application/json' }
    const options = {
      method: body === undefined ? 'GET' : 'POST',
      agent,
      headers: { ...json, ...length, ...call.headers },
    }
    const startedAt = performance.now()
    const outgoing = request(call.url, options, (response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => (text += chunk.toString()))
      response.on('end', () => {
        const accepted = isAccepted(response.statusCode ?? 0, text)
        uses.push({ credential, startedAt, answeredAt: performance.now(), accepted })
        resolve()
      })
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}
