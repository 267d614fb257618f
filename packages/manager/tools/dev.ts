// `npm run dev`: a Manager to try things on. Starts its own PostgreSQL and Redis unless SVC_DATABASE_URL and
// SVC_REDIS_URL name others, migrates, and runs the service with the development escape hatch open. However it ends, it
// stops what it has started; what it could not stop because it was killed, the next run stops.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { migrateUp } from '../src/platform/db/migrate.ts'
import { ensureEngines } from '../test/engines/install.ts'
import { findPostgresAccount, freePort, startPostgres } from '../test/engines/postgres.ts'
import { startRedis } from '../test/engines/redis.ts'
import { claimFolder } from './dev-folder.ts'
import { printPretty } from './pretty-log.ts'

const given = process.env
const port = given['SVC_PORT'] ?? '8080'
// The data stays from one run to the next; remove the folder to start again.
const dir = `${tmpdir()}/manager-dev-${userInfo().username}`
const say = (line: string): void => void process.stdout.write(`${line}\n`)
// A terminal that was closed can no longer be written to; what runs is stopped all the same.
for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined)

/** Stops what was started; the last one is stopped first. */
const stops: (() => unknown)[] = []
let [service, isStopping]: [ChildProcess | null, boolean] = [null, false]
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => {
    isStopping = true
    service?.kill('SIGTERM')
  })

let code = 1
try {
  code = await run()
} catch (error) {
  report(error)
}
for (const stop of stops.toReversed())
  try {
    await stop()
  } catch (error) {
    code = 1
    report(error)
  }
process.exit(code)

async function run(): Promise<number> {
  const isOwnData = given['SVC_DATABASE_URL'] === undefined
  if (isOwnData || given['SVC_REDIS_URL'] === undefined) ensureEngines()
  const { uid } = userInfo()
  const folder = await claimFolder(dir, port, [uid, uid === 0 ? (findPostgresAccount()?.uid ?? 0) : uid])
  stops.push(folder.release)
  await assertFree('SVC_PORT', port, given['SVC_HOST'])
  await assertFree('SVC_HEALTH_PORT', given['SVC_HEALTH_PORT'] ?? '8081', given['SVC_HEALTH_HOST'])
  const databaseUrl = given['SVC_DATABASE_URL'] ?? (await ownPostgres())
  const redisUrl = given['SVC_REDIS_URL'] ?? (await ownRedis(folder.add))
  const applied = await migrateUp(databaseUrl, say).catch((cause: unknown) => {
    throw new Error(`the migrations failed: ${textOf(cause)}`, { cause })
  })
  for (const name of applied) say(`applied ${name}`)
  if (isStopping) return 0
  service = startService(databaseUrl, redisUrl)
  const [leader, ended] = [service.pid, once(service, 'close')]
  if (leader === undefined) throw new Error('the service could not be started')
  folder.add(leader)
  say(`API       http://localhost:${port}/query  (data in ${isOwnData ? dir : 'your database'})`)
  say(`GraphiQL  http://localhost:${port}/gql    (Ctrl-C stops everything)`)
  // Should the watcher be killed, the service it watches is ended too.
  service.once('exit', () => endGroup(leader))
  const [status] = (await ended) as [number | null]
  return status ?? 1
}

async function ownPostgres(): Promise<string> {
  const postgres = startPostgres(dir, await freePort())
  stops.push(() => postgres.stop())
  return postgres.url
}

async function ownRedis(add: (pid: number) => void): Promise<string> {
  const redis = await startRedis(await freePort(), { detached: true })
  stops.push(() => redis.stop())
  add(redis.pid)
  return redis.url
}

/** The service, restarted at every change. In a group of its own: Ctrl-C reaches this process alone, which ends all. */
function startService(databaseUrl: string, redisUrl: string): ChildProcess {
  const main = new URL('../src/main.ts', import.meta.url).pathname
  const isTerminal = process.stdout.isTTY
  const child = spawn(process.execPath, ['--watch-preserve-output', '--watch', main], {
    stdio: ['ignore', isTerminal ? 'pipe' : 'inherit', 'inherit'],
    detached: true,
    env: {
      SVC_SHUTDOWN_DRAIN_DELAY_MS: '0',
      ...(given['SVC_PORT'] === undefined ? {} : { SVC_PUBLIC_URL: `http://localhost:${port}` }),
      ...given,
      SVC_ENV: 'development',
      SVC_DEV_USER_OVERRIDE_ENABLED: 'true',
      SVC_DATABASE_URL: databaseUrl,
      SVC_REDIS_URL: redisUrl,
    },
  })
  if (child.stdout !== null) printPretty(child.stdout, process.stdout, process.stdout.hasColors())
  return child
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
