// Probes a replica repeatedly and records the status and duration of each response.
import { type Agent, get } from 'node:http'
import { pause } from '../children.ts'

export type Probe = { at: number; ms: number; status: number }
export type Probes = {
  /** Stops probing and resolves with all probes. */
  stop(): Promise<Probe[]>
}

/** Sends one request, over a new connection unless an agent is given. Status 0 means no response. */
export function probeOnce(url: string, agent: Agent | false = false, timeoutMs = 5_000): Promise<Probe> {
  const [at, startedAt] = [Date.now(), performance.now()]
  return new Promise((resolve) => {
    const end = (status: number): void => resolve({ at, ms: performance.now() - startedAt, status })
    const outgoing = get(url, { agent, timeout: timeoutMs }, (response) => {
      response.resume().once('end', () => end(response.statusCode ?? 0))
      response.once('error', () => end(0))
    })
    outgoing.on('timeout', () => outgoing.destroy()).on('error', () => end(0))
  })
}

/** Sends probes one at a time, with a pause of `intervalMs` after each. */
export function startProbes(url: string, intervalMs: number, agent: Agent | false = false): Probes {
  const probes: Probe[] = []
  const stopping = new AbortController()
  const done = (async () => {
    while (!stopping.signal.aborted) {
      probes.push(await probeOnce(url, agent))
      await pause(intervalMs)
    }
  })()
  return {
    stop: async () => {
      stopping.abort()
      await done
      return probes
    },
  }
}
