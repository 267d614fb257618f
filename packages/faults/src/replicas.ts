// Starts replicas of the service, each in its own process with every role, as in production.
import type { Engines } from './cluster.ts'
import { masterKey, proxySecret } from '@manager/harness/callers.ts'
import { type Child, endChild, startChild, until } from './children.ts'
import { freePort } from '@manager/harness/engines/postgres.ts'
import { compileCache } from '@manager/harness/process.ts'

export type Replica = {
  name: string
  pid: number
  url: string
  /** URL of the readiness check. */
  readyUrl: string
  logFile: string
  isAlive(): boolean
  /** Resolves with the exit code, or the name of the signal that ended the process. */
  exit: Promise<number | string>
  signal(name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT' | 'SIGTERM'): void
  /** Returns the sum of a counter over all series with these labels. */
  metric(name: string, labels?: Record<string, string>): Promise<number>
  end(): Promise<void>
}
export type ReplicaOptions = {
  name: string
  /** Folder for the log. */
  folder: string
  env?: Record<string, string>
  /** The offset of the replica's clock from the clock of the machine. */
  clockShiftMs?: number
  /** Entry point of a different release. */
  program?: string
  /** Limit of open files. Null keeps the default. */
  openFiles?: number | null
}

const main = new URL('../../manager/src/main.ts', import.meta.url).pathname
const shiftedClock = new URL('shifted-clock.ts', import.meta.url).pathname
const startMs = 120_000

/** Starts a replica and waits until it is ready. Throws if it exits first. */
export async function startReplica(
  cluster: Pick<Engines, 'databaseUrl' | 'redisUrl'>,
  options: ReplicaOptions,
): Promise<Replica> {
  const { name, folder, env = {}, clockShiftMs = 0, program = main, openFiles = null } = options
  const [port, healthPort] = [await freePort(), await freePort()]
  const logFile = `${folder}/${name}.log`
  const args = [...(clockShiftMs === 0 ? [] : ['--import', shiftedClock]), program]
  const child = startChild({
    ...(openFiles === null ? { args } : withLimit(openFiles, args)),
    logFile,
    env: { ...settingsOf(cluster, port, healthPort), CLOCK_SHIFT_MS: String(clockShiftMs), ...env },
  })
  let isAlive = true
  void child.exit.then(() => (isAlive = false))
  const healthUrl = `http://127.0.0.1:${healthPort}`
  await until(`the start of ${name} (see ${logFile})`, startMs, async () => {
    if (!isAlive) return true
    return (await fetch(`${healthUrl}/readyz`)).status === 200
  })
  if (!isAlive) throw new Error(`${name} exited with ${await child.exit}; see ${logFile}`)
  return {
    name,
    pid: child.pid,
    url: `http://127.0.0.1:${port}`,
    readyUrl: `${healthUrl}/readyz`,
    logFile,
    isAlive: () => isAlive,
    exit: child.exit,
    signal: (signal) => void child.process.kill(signal),
    metric: (metric, labels = {}) => readMetric(healthUrl, metric, labels),
    end: () => endReplica(child),
  }
}

/** prlimit replaces itself with the program, so the process ID stays the same. */
const withLimit = (files: number, args: string[]): { program: string; args: string[] } => ({
  program: 'prlimit',
  args: [`--nofile=${files}:${files}`, process.execPath, ...args],
})

const settingsOf = (
  cluster: Pick<Engines, 'databaseUrl' | 'redisUrl'>,
  port: number,
  healthPort: number,
): Record<string, string> => ({
  // Uses the compile cache. Without it, type stripping would take most of the start time.
  NODE_COMPILE_CACHE: compileCache,
  SVC_DATABASE_URL: cluster.databaseUrl,
  SVC_REDIS_URL: cluster.redisUrl,
  SVC_MASTER_KEY: masterKey,
  SVC_PROXY_SECRET: proxySecret,
  SVC_PORT: String(port),
  SVC_HEALTH_PORT: String(healthPort),
  SVC_SHUTDOWN_DRAIN_DELAY_MS: '0',
  // The backends of the fault scenarios run on this machine.
  SVC_CALLBACKS_ALLOWED_CIDRS: '127.0.0.0/8',
})

const endReplica = (child: Child): Promise<void> => endChild(child)

async function readMetric(healthUrl: string, name: string, labels: Record<string, string>): Promise<number> {
  const text = await (await fetch(`${healthUrl}/metrics`)).text()
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .filter((line) => wanted.every((label) => line.includes(label)))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
}
