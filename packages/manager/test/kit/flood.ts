// A load client in a separate process. It sends POST requests at a steady rate, cycling through the credentials, and
// counts the responses. Run it as `node flood.ts <json>`, or with startFlood from a test.
import { spawn } from 'node:child_process'
import { Agent, request } from 'node:http'

export type Flood = {
  url: string
  headers: Record<string, string>
  body: string
  /** Authorization values, used in rotation. */
  authorizations: string[]
  perSecond: number
  seconds: number
  /** Delay after the start of the process, so that process startup does not affect the measurement. */
  delayMs?: number
}
export type FloodResult = { statuses: Record<string, number>; withoutRetryAfter: number; p99Ms: number }

/** Runs the flood in a child process and resolves when it is over. */
export async function startFlood(flood: Flood): Promise<FloodResult> {
  const child = spawn(process.execPath, [import.meta.filename], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(JSON.stringify(flood))
  let out = ''
  for await (const chunk of child.stdout) out += String(chunk)
  return JSON.parse(out) as FloodResult
}

async function run(flood: Flood): Promise<FloodResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: 128 })
  const result = { statuses: {} as Record<string, number>, withoutRetryAfter: 0 }
  const times: number[] = []
  const inFlight = new Set<Promise<void>>()
  const post = (authorization: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const length = Buffer.byteLength(flood.body)
      const headers = {
        'content-type': 'application/json',
        'content-length': length,
        authorization,
        ...flood.headers,
      }
      const startedAt = performance.now()
      const outgoing = request(flood.url, { method: 'POST', agent, headers }, (response) => {
        const status = response.statusCode ?? 0
        result.statuses[status] = (result.statuses[status] ?? 0) + 1
        const needsRetryAfter = status === 429 || status === 503
        if (needsRetryAfter && !/^[1-9]\d*$/.test(response.headers['retry-after'] ?? ''))
          result.withoutRetryAfter++
        response.resume().on('end', () => {
          times.push(performance.now() - startedAt)
          resolve()
        })
      })
      outgoing.on('error', reject)
      outgoing.end(flood.body)
    })
  await new Promise((resolve) => setTimeout(resolve, flood.delayMs ?? 0))
  const floodStartedAt = performance.now()
  for (let sent = 0; performance.now() - floodStartedAt < flood.seconds * 1_000;) {
    const due = Math.floor(((performance.now() - floodStartedAt) / 1_000) * flood.perSecond)
    for (; sent < due; sent++) {
      const use = post(flood.authorizations[sent % flood.authorizations.length] as string)
      inFlight.add(use)
      void use.finally(() => inFlight.delete(use))
    }
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  await Promise.all(inFlight)
  agent.destroy()
  times.sort((a, b) => a - b)
  return { ...result, p99Ms: times[Math.floor(times.length * 0.99)] ?? 0 }
}

if (process.argv[1] === import.meta.filename) {
  let input = ''
  for await (const chunk of process.stdin) input += String(chunk)
  process.stdout.write(JSON.stringify(await run(JSON.parse(input) as Flood)))
}
