// Code that `npm run dev` and `npm run demo` share. It starts PostgreSQL and Redis, migrates, starts the service, and
// stops all processes at the end. If the run is killed, the next run stops the remaining processes.
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { userInfo } from 'node:os'
import { migrateUp } from '../src/platform/postgres/migrate.ts'
import { findPostgresAccount, freePort, startPostgres } from '@manager/harness/engines/postgres.ts'
import { startRedis } from '@manager/harness/engines/redis.ts'
import { ensureConsoleBuild } from '@manager/harness/console-build.ts'
import { type DevFolder, claimFolder } from './dev-folder.ts'

export type Engines = { databaseUrl: string; redisUrl: string }
/** A run of the command. `stack` stops the processes in reverse order, and `signal` aborts when the run must end. */
export type Run = { folder: DevFolder; stack: AsyncDisposableStack; signal: AbortSignal }
export type Development = {
  /** The command as a user types it. */
  command: string
  /** Folder for the data and the process list. Remove it to start over. */
  dir: string
  /** Ports that must be free, each with the variable that changes it. Users open the first port. */
  ports: readonly [Port, ...Port[]]
  /** PostgreSQL and Redis servers that are already running. */
  runningEngines: Partial<Engines>
  /**
   * Starts the service in its own process group. Ctrl-C then signals only this process, which stops all
   * others.
   */
  startService: (engines: Engines) => ChildProcess
  /** Starts additional processes that run alongside the service. */
  startCompanions?: (engines: Engines, run: Run) => Promise<void>
}
type Port = { variable: string; port: string; host?: string | undefined }

export const printLine = (line: string): void => void process.stdout.write(`${line}\n`)

function reportFailure(error: unknown): 1 {
  process.stderr.write(`error: ${formatError(error)}\n`)
  return 1
}

/** Runs until the service exits or a signal arrives, stops all started processes, and exits. */
export async function runDevelopment(development: Development): Promise<never> {
  // Writing to a closed terminal fails. The error is ignored, so that the processes are still stopped.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined)
  const abortController = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => abortController.abort())
  const stack = new AsyncDisposableStack()
  const service = await run(development, stack, abortController.signal).catch(reportFailure)
  const failure = await stack.disposeAsync().then(() => null, reportFailure)
  process.exit(failure ?? (typeof service === 'number' ? service : (service.exitCode ?? 1)))
}

/** Returns the service process when the run must end, or 0 if the run must end before the service starts. */
async function run(
  { command, dir, ports, runningEngines: given, startService, startCompanions }: Development,
  stack: AsyncDisposableStack,
  signal: AbortSignal,
): Promise<ChildProcess | number> {
  const { uid } = userInfo()
  const owners = [uid, uid === 0 ? (findPostgresAccount()?.uid ?? 0) : uid]
  const folder = await claimFolder(dir, ports[0].port, owners, command)
  stack.defer(folder.release)
  for (const requiredPort of ports) await assertFree(requiredPort)
  const engines = {
    databaseUrl: given.databaseUrl ?? (await startOwnPostgres(dir, stack)),
    redisUrl: given.redisUrl ?? (await startOwnRedis(folder, stack)),
  }
  const appliedMigrations = await migrateUp(engines.databaseUrl, printLine).catch((cause: unknown) => {
    throw new Error(`the migrations failed: ${formatError(cause)}`, { cause })
  })
  for (const name of appliedMigrations) printLine(`applied ${name}`)
  await buildConsole(signal)
  if (signal.aborted) return 0
  const service = startService(engines)
  const { pid } = service
  if (pid === undefined) throw new Error('the service could not be started')
  folder.add(pid)
  stack.defer(() => stopChild(service))
  // If the watcher is killed, the service that it watches must be stopped too.
  service.once('exit', () => killGroup(pid))
  const closeEvent = once(service, 'close')
  const companionPromise = startCompanions?.(engines, { folder, stack, signal }) ?? Promise.resolve()
  await Promise.race([closeEvent, once(signal, 'abort'), companionPromise.then(() => closeEvent)])
  return service
}

const announceBuild = (): void => printLine('console    building with npm run build -w packages/console')

/** Builds the console if its sources have changed. The service starts without it if the build fails. */
async function buildConsole(signal: AbortSignal): Promise<void> {
  await ensureConsoleBuild({ onBuild: announceBuild, signal }).catch((error: unknown) => {
    if (!signal.aborted) process.stderr.write(`console    ${(error as Error).message}\n`)
  })
}

async function startOwnPostgres(dir: string, stack: AsyncDisposableStack): Promise<string> {
  const postgres = startPostgres(dir, await freePort())
  stack.defer(() => postgres.stop())
  return postgres.url
}

async function startOwnRedis(folder: DevFolder, stack: AsyncDisposableStack): Promise<string> {
  const redis = await startRedis(await freePort(), { detached: true })
  stack.defer(() => redis.stop())
  folder.add(redis.pid)
  return redis.url
}

/** Stops a process and waits until it has exited. */
export async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const closeEvent = once(child, 'close')
  child.kill('SIGTERM')
  await closeEvent
}

/** Throws if another process listens on the port. Invalid port numbers are ignored here: the service reports them. */
async function assertFree({ variable, port, host = '127.0.0.1' }: Port): Promise<void> {
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) return
  const probe = createServer().listen(Number(port), host)
  try {
    await once(probe, 'listening')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE')
      throw new Error(`port ${port} is already in use; set ${variable} to another port`, { cause: error })
  }
  probe.close()
}

function killGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL')
  } catch {
    // The process group no longer exists.
  }
}

/**
 * Returns the first line of the error message. An AggregateError has no message, so the message of its first
 * error is used.
 */
function formatError(error: unknown): string {
  const { message, errors } = error as Error & { errors?: Error[] }
  return (message !== '' ? message : (errors?.[0]?.message ?? String(error))).split('\n')[0] as string
}
