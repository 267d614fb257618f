// Probes replicas continuously in a separate thread, so that the harness load does not delay the measured
// responses.
import { setTimeout as pause } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { rssOf } from './cpu.ts'
import type { WatchedReplica, Vitals } from './vitals.ts'

const healthIntervalMs = 100
const memoryIntervalMs = 500
const timeoutMs = 5_000

const { replicas, withWaiting } = workerData as { replicas: WatchedReplica[]; withWaiting: boolean }
const vitals: Vitals = { health: [], ready: [], memory: [], waiting: [] }
const ending = new AbortController()

async function repeat(intervalMs: number, act: () => Promise<void> | void): Promise<void> {
  while (!ending.signal.aborted) {
    await act()
    await pause(intervalMs)
  }
}

const ask = (url: string): Promise<{ status: number; text: string }> =>
  fetch(url, { signal: AbortSignal.timeout(timeoutMs) }).then(
    async (response) => ({ status: response.status, text: await response.text() }),
    () => ({ status: 0, text: '' }),
  )

const watch = ({ name, pid, healthUrl }: WatchedReplica): Promise<void>[] => [
  repeat(healthIntervalMs, async () => {
    const [at, startedAt] = [Date.now(), performance.now()]
    const { status } = await ask(`${healthUrl}/healthz`)
    vitals.health.push({ replica: name, at, status, ms: performance.now() - startedAt })
  }),
  repeat(healthIntervalMs, async () => {
    const { status } = await ask(`${healthUrl}/readyz`)
    vitals.ready.push({ replica: name, at: Date.now(), status })
  }),
  repeat(memoryIntervalMs, async () => {
    try {
      vitals.memory.push({ replica: name, at: Date.now(), mb: rssOf(pid) })
    } catch {
      // Ignore the error, because the process has exited.
    }
    if (!withWaiting) return
    const { text } = await ask(`${healthUrl}/metrics`)
    const line = text.split('\n').find((one) => one.startsWith('svc_db_pool_waiting '))
    if (line !== undefined)
      vitals.waiting.push({ replica: name, at: Date.now(), count: Number(line.split(' ')[1]) })
  }),
]

const watching = Promise.all(replicas.flatMap(watch))
parentPort?.once('message', () => {
  ending.abort()
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origin
  void watching.then(() => parentPort?.postMessage(vitals))
})
