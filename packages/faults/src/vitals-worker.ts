// Asks replicas how they are, over and over, in a thread of its own: the load of the harness must not make answers look late.
import { setTimeout as pause } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { rssOf } from './cpu.ts'
import type { Patient, Vitals } from './vitals.ts'

const healthEveryMs = 100
const memoryEveryMs = 500
const answerMs = 5_000

const { replicas, withWaiting } = workerData as { replicas: Patient[]; withWaiting: boolean }
const vitals: Vitals = { health: [], ready: [], memory: [], waiting: [] }
const ending = new AbortController()

async function keep(everyMs: number, act: () => Promise<void> | void): Promise<void> {
  while (!ending.signal.aborted) {
    await act()
    await pause(everyMs)
  }
}

const ask = (url: string): Promise<{ status: number; text: string }> =>
  fetch(url, { signal: AbortSignal.timeout(answerMs) }).then(
    async (answer) => ({ status: answer.status, text: await answer.text() }),
    () => ({ status: 0, text: '' }),
  )

const watch = ({ name, pid, healthUrl }: Patient): Promise<void>[] => [
  keep(healthEveryMs, async () => {
    const [at, begun] = [Date.now(), performance.now()]
    const { status } = await ask(`${healthUrl}/healthz`)
    vitals.health.push({ replica: name, at, status, ms: performance.now() - begun })
  }),
  keep(healthEveryMs, async () => {
    const { status } = await ask(`${healthUrl}/readyz`)
    vitals.ready.push({ replica: name, at: Date.now(), status })
  }),
  keep(memoryEveryMs, async () => {
    try {
      vitals.memory.push({ replica: name, at: Date.now(), mb: rssOf(pid) })
    } catch {
      // It has ended.
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
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- That of windows; a thread has none.
  void watching.then(() => parentPort?.postMessage(vitals))
})
