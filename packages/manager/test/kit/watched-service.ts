// Starts the service as main.ts does, with an event loop monitor in the same process. On SIGUSR2, it prints the event
// loop delays since the previous signal. `startWatched` starts it from a test.
import { existsSync, readFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { type ServiceProcess, startProcess } from '@manager/harness/process.ts'

export type LoopReport = {
  /** Wall-clock event loop delay, including the resolution of the monitor. */
  p99Ms: number
  /** The same delay without the time in which the thread was runnable but waited for a CPU. */
  ownP99Ms: number
  ownMaxMs: number
}
export type WatchedService = ServiceProcess & { report(): Promise<LoopReport> }

const resolutionMs = 10

/** Starts the process. `report` returns its event loop delays. */
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

/**
 * This file reports how long the main thread has waited for a CPU. If the kernel does not report it, the wait counts as
 * 0.
 */
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
