// Asks a replica how it is, again and again, and notes what it said and how long that took.
import { type Agent, get } from 'node:http'
import { pause } from '../children.ts'

export type Probe = { at: number; ms: number; status: number }
export type Probes = {
  /** Ends it; resolves with all that were made. */
  stop(): Promise<Probe[]>
}

/** One request; over a connection of its own unless an agent has one. */
export function probeOnce(url: string, agent: Agent | false = false, timeoutMs = 5_000): Promise<Probe> {
  const [at, begun] = [Date.now(), performance.now()]
  return new Promise((resolve) => {
    const end = (status: number): void => resolve({ at, ms: performance.now() - begun, status })
    const outgoing = get(url, { agent, timeout: timeoutMs }, (response) => {
      response.resume().once('end', () => end(response.statusCode ?? 0))
      response.once('error', () => end(0))
    })
    outgoing.on('timeout', () => outgoing.destroy()).on('error', () => end(0))
  })
}

/** One after the other, so often. */
export function startProbes(url: string, everyMs: number, agent: Agent | false = false): Probes {
  const probes: Probe[] = []
  const over = new AbortController()
  const done = (async () => {
    while (!over.signal.aborted) {
      probes.push(await probeOnce(url, agent))
      await pause(everyMs)
    }
  })()
  return {
    stop: async () => {
      over.abort()
      await done
      return probes
    },
  }
}
