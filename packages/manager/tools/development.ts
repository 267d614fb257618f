// `npm run dev` and `npm run demo` share this: engines of their own, the migrations, the service, and an end that leaves
// nothing behind. If the run is killed, the next run stops what is left.
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { userInfo } from 'node:os'
import { migrateUp } from '../src/platform/postgres/migrate.ts'
import { findPostgresAccount, freePort, startPostgres } from '@manager/harness/engines/postgres.ts'
import { startRedis } from '@manager/harness/engines/redis.ts'
import { type DevFolder, claimFolder } from './dev-folder.ts'

export type Engines = { databaseUrl: string; redisUrl: string }
/** A run: `stack` stops what was started, the last one first, and `signal` fires when the run is to end. */
export type Run = { folder: DevFolder; stack: AsyncDisposableStack; signal: AbortSignal }
export type Development = {
  /** The command as people type it. */
  command: string
  /** Where the data and the list of processes are; removing it starts anew. */
  dir: string
  /** Ports that must be free, each with the variable that names another one; people use the first. */
  ports: readonly [Port, ...Port[]]
  /** Engines that are there already. */
  given: Partial<Engines>
  /** Starts the service in a group of its own: Ctrl-C reaches this process alone, which ends all. */
  startService: (engines: Engines) => ChildProcess
  /** Starts what runs beside the service. */
  startBeside?: (engines: Engines, run: Run) => Promise<void>
}
type Port = { variable: string; port: string; host?: string | undefined }

export const say = (line: string): void => void process.stdout.write(`${line}\n`)

function failed(error: unknown): 1 {
  process.stderr.write(`error: ${textOf(error)}\n`)
  return 1
}

/** Runs until the service ends or a signal comes, stops what was started, and exits. */
export async function runDevelopment(development: Development): Promise<never> {
  // A terminal that was closed can no longer be written to; what runs is stopped all the same.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined)
  const ending = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => ending.abort())
  const stack = new AsyncDisposableStack()
  const service = await run(development, stack, ending.signal).catch(failed)
  const failure = await stack.disposeAsync().then(() => null, failed)
  process.exit(failure ?? (typeof service === 'number' ? service : (service.exitCode ?? 1)))
}

/** Returns the service when the run is to end, or 0 if it is to end before the service starts. */
async function run(
  { command, dir, ports, given, startService, startBeside }: Development,
  stack: AsyncDisposableStack,
  signal: AbortSignal,
): Promise<ChildProcess | number> {
  const { uid } = userInfo()
  const owners = [uid, uid === 0 ? (findPostgresAccount()?.uid ?? 0) : uid]
  const folder = await claimFolder(dir, ports[0].port, owners, command)
  stack.defer(folder.release)
  for (const one of ports) await assertFree(one)
  const engines = {
    databaseUrl: given.databaseUrl ?? (await ownPostgres(dir, stack)),
    redisUrl: given.redisUrl ?? (await ownRedis(folder, stack)),
  }
  const applied = await migrateUp(engines.databaseUrl, say).catch((cause: unknown) => {
    throw new Error(`the migrations failed: ${textOf(cause)}`, { cause })
  })
  for (const name of applied) say(`applied ${name}`)
  if (signal.aborted) return 0
  const service = startService(engines)
  const { pid } = service
  if (pid === undefined) throw new Error('the service could not be started')
  folder.add(pid)
  stack.defer(() => stopChild(service))
  // Should the watcher be killed, the service it watches is ended too.
  service.once('exit', () => endGroup(pid))
  const ended = once(service, 'close')
  const started = startBeside?.(engines, { folder, stack, signal }) ?? Promise.resolve()
  await Promise.race([ended, once(signal, 'abort'), started.then(() => ended)])
  return service
}

async function ownPostgres(dir: string, stack: AsyncDisposableStack): Promise<string> {
  const postgres = startPostgres(dir, await freePort())
  stack.defer(() => postgres.stop())
  return postgres.url
}

async function ownRedis(folder: DevFolder, stack: AsyncDisposableStack): Promise<string> {
  const redis = await startRedis(await freePort(), { detached: true })
  stack.defer(() => redis.stop())
  folder.add(redis.pid)
  return redis.url
}

/** Ends a process and waits for its end. */
export async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'close')
  child.kill('SIGTERM')
  await ended
}

/** Throws when another process listens there. The service itself reports a value that is not a port. */
async function assertFree({ variable, port, host = '127.0.0.1' }: Port): Promise<void> {
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) return
  const probe = createServer().listen(Number(port), host)
  try {
    await once(probe, 'listening')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE')
      throw new Error(`port ${port} is taken; set ${variable} to another one`, { cause: error })
  }
  probe.close()
}

function endGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL')
  } catch {
    // The group is empty.
  }
}

/** The first line that says something; a connection that fails at several addresses has it in its parts. */
function textOf(error: unknown): string {
  const { message, errors } = error as Error & { errors?: Error[] }
  return (message !== '' ? message : (errors?.[0]?.message ?? String(error))).split('\n')[0] as string
}
