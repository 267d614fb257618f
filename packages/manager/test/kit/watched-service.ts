// The service as main.ts starts it, with a watch on its event loop inside the same process. SIGUSR2 prints how the loop
// did since the signal before. `startWatched` starts it from a test.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { type ServiceProcess, startProcess } from './process.ts'

export type LoopReport = {
  /** How long the loop took to come round, the resolution of the watch included. */
  p99Ms: number
  maxMs: number
  /** The same, of processor time that this thread used: what others take from a busy machine is not in it. */
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
  const running = await startProcess(databaseUrl, env, import.meta.filename)
  const report = (): Promise<LoopReport> =>
    new Promise((resolve) => {
      const onData = (chunk: Buffer): void => {
        const found = /^\{"loop":(.*)\}$/m.exec(chunk.toString())
        if (found === null) return
        running.child.stdout?.off('data', onData)
        resolve(JSON.parse(found[1] as string) as LoopReport)
      }
      running.child.stdout?.on('data', onData)
      running.child.kill('SIGUSR2')
    })
  return { ...running, report }
}

async function watch(): Promise<void> {
  const delays = monitorEventLoopDelay({ resolution: resolutionMs })
  delays.enable()
  let own: number[] = []
  let before = process.threadCpuUsage()
  setInterval(() => {
    const used = process.threadCpuUsage(before)
    before = process.threadCpuUsage()
    own.push((used.user + used.system) / 1_000)
  }, resolutionMs)
  process.on('SIGUSR2', () => {
    own.sort((a, b) => a - b)
    const loop: LoopReport = {
      p99Ms: delays.percentile(99) / 1e6,
      maxMs: delays.max / 1e6,
      ownP99Ms: own[Math.floor(own.length * 0.99)] ?? 0,
      ownMaxMs: own.at(-1) ?? 0,
    }
    process.stdout.write(`\n${JSON.stringify({ loop })}\n`)
    delays.reset()
    own = []
  })
  await import('../../src/main.ts')
}

if (process.argv[1] === import.meta.filename) await watch()
