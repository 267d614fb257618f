// The service as main.ts starts it, with a watch on its event loop inside the same process. SIGUSR2 prints how the loop
// did since the signal before. `startWatched` starts it from a test.
import { existsSync, readFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { type ServiceProcess, startProcess } from '@manager/harness/process.ts'

export type LoopReport = {
  /** How long the loop took to come round, by the clock; the resolution of the watch is part of it. */
  p99Ms: number
  /** The same without the time in which the thread could run, but others had the processors of a busy machine. */
  ownP99Ms: number
  ownMaxMs: number
}
export type WatchedService = ServiceProcess & { report(): Promise<LoopReport> }

const resolutionMs = 10

/** Starts the process and answers a way to ask it. */
export async function startWatched(
  databaseUrl: string,
  env: Record<string, string | undefined>,
): Promise<WatchedService> {
  const running = await startProcess(databaseUrl, env, { program: import.meta.filename })
  const report = async (): Promise<LoopReport> => {
    const from = running.lines.length
    running.child.kill('SIGUSR2')
    for (;;) {
      const line = running.lines.slice(from).find((text) => text.startsWith('{"loop":'))
      if (line !== undefined) return (JSON.parse(line) as { loop: LoopReport }).loop
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
  return { ...running, report }
}

/** Milliseconds that the main thread has waited for a processor so far; 0 where nobody says. */
const schedule = `/proc/self/task/${process.pid}/schedstat`
const waitedMs = (): number =>
  existsSync(schedule) ? Number(readFileSync(schedule, 'utf8').split(' ')[1]) / 1e6 : 0

async function watch(): Promise<void> {
  const delays = monitorEventLoopDelay({ resolution: resolutionMs })
  delays.enable()
  let own: number[] = []
  let before = performance.now() - waitedMs()
  setInterval(() => {
    const now = performance.now() - waitedMs()
    own.push(now - before)
    before = now
  }, resolutionMs)
  process.on('SIGUSR2', () => {
    own.sort((a, b) => a - b)
    const loop: LoopReport = {
      p99Ms: delays.percentile(99) / 1e6,
      ownP99Ms: own[Math.floor(own.length * 0.99)] ?? 0,
      ownMaxMs: own.at(-1) ?? 0,
    }
    process.stdout.write(`${JSON.stringify({ loop })}\n`)
    delays.reset()
    own = []
  })
  await import('../../src/main.ts')
}

if (process.argv[1] === import.meta.filename) await watch()
