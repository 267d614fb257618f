// What `npm run dev` and `npm run demo` share: engines of their own, the migrations, the service, and an end that leaves
// nothing behind. What could not be stopped because the run was killed, the next run stops.
import { type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { userInfo } from 'node:os'
import { migrateUp } from '../src/platform/db/migrate.ts'
import { findPostgresAccount, freePort, startPostgres } from '@manager/harness/engines/postgres.ts'
import { startRedis } from '@manager/harness/engines/redis.ts'
import { type DevFolder, claimFolder } from './dev-folder.ts'

export type Engines = { databaseUrl: string; redisUrl: string }
type Stop = () => unknown

export type Place = {
  engines: Engines
  folder: DevFolder
  stops: Stop[]
  /** Fires when the run is to end. */
  signal: AbortSignal
}

export type Development = {
  /** The command as people type it. */
  command: string
  /** Where the data and the list of processes are; removing it starts anew. */
  dir: string
  /** The port that people use, for the message of a second run. */
  port: string
  /** Ports that must be free, each with the variable that names another one. */
  ports: readonly { variable: string; port: string; host?: string | undefined }[]
  /** Engines that are there already. */
  given: Partial<Engines>
  /** Hears of the migrations that were applied. */
  onMigrated: (names: readonly string[]) => void
  /** Starts the service in a group of its own: Ctrl-C reaches this process alone, which ends all. */
  startService: (engines: Engines) => ChildProcess
  /** Starts what runs beside the service; what it pushes to `stops` is stopped before the service, the last one first. */
  startBeside?: (place: Place) => Promise<void>
}

export const say = (line: string): void => void process.stdout.write(`${line}\n`)

/** Runs until the service ends or a signal comes, stops what was started, and exits. */
export async function runDevelopment(development: Development): Promise<never> {
  // A terminal that was closed can no longer be written to; what runs is stopped all the same.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined)
  const ending = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => ending.abort())
  const stops: Stop[] = []
  let code = 1
  try {
    code = await run(development, stops, ending.signal)
  } catch (error) {
    report(error)
  }
  const isClean = await stopAll(stops)
  process.exit(isClean ? code : 1)
}

async function run(development: Development, stops: Stop[], signal: AbortSignal): Promise<number> {
  const { command, dir, port, ports, given, startService, startBeside } = development
  const { uid } = userInfo()
  const owners = [uid, uid === 0 ? (findPostgresAccount()?.uid ?? 0) : uid]
  const folder = await claimFolder(dir, port, owners, command)
  stops.push(folder.release)
  for (const { variable, port, host } of ports) await assertFree(variable, port, host)
  const engines = {
    databaseUrl: given.databaseUrl ?? (await ownPostgres(dir, stops)),
    redisUrl: given.redisUrl ?? (await ownRedis(folder.add, stops)),
  }
  const applied = await migrateUp(engines.databaseUrl, say).catch((cause: unknown) => {
    throw new Error(`the migrations failed: ${textOf(cause)}`, { cause })
  })
  development.onMigrated(applied)
  if (signal.aborted) return 0
  const service = startService(engines)
  const [leader, ended] = [service.pid, once(service, 'close')]
  if (leader === undefined) throw new Error('the service could not be started')
  folder.add(leader)
  // Should the watcher be killed, the service it watches is ended too.
  service.once('exit', () => endGroup(leader))
  const besides: Stop[] = []
  try {
    const started = startBeside?.({ engines, folder, stops: besides, signal })
    await Promise.race([ended, aborted(signal), started?.then(() => ended)].filter(isPresent))
  } finally {
    await stopAll(besides)
    service.kill('SIGTERM')
    await ended
  }
  return service.exitCode ?? 1
}

const isPresent = <Value>(value: Value | undefined): value is Value => value !== undefined

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve())
  })

/** Stops all, the last one first; false when one of them failed. */
async function stopAll(stops: readonly Stop[]): Promise<boolean> {
  let isClean = true
  for (const stop of stops.toReversed())
    try {
      await stop()
    } catch (error) {
      isClean = false
      report(error)
    }
  return isClean
}

async function ownPostgres(dir: string, stops: Stop[]): Promise<string> {
  const postgres = startPostgres(dir, await freePort())
  stops.push(() => postgres.stop())
  return postgres.url
}

async function ownRedis(add: (pid: number) => void, stops: Stop[]): Promise<string> {
  const redis = await startRedis(await freePort(), { detached: true })
  stops.push(() => redis.stop())
  add(redis.pid)
  return redis.url
}

/** Throws when another process listens there. What is no port is left to the service, which says so. */
async function assertFree(variable: string, text: string, host = '127.0.0.1'): Promise<void> {
  const number = Number(text)
  if (!Number.isInteger(number) || number < 1 || number > 65_535) return
  const probe = createServer().listen(number, host)
  try {
    await once(probe, 'listening')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE')
      throw new Error(`port ${number} is taken; set ${variable} to another one`, { cause: error })
  }
  probe.close()
}

function endGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL')
  } catch {
    // Nobody is left in it.
  }
}

function report(error: unknown): void {
  process.stderr.write(`error: ${textOf(error)}\n`)
}

/** The first line that says something; a connection that fails at several addresses has it in its parts. */
function textOf(error: unknown): string {
  const { message, errors } = error as Error & { errors?: Error[] }
  return (message !== '' ? message : (errors?.[0]?.message ?? String(error))).split('\n')[0] as string
}
