// Returns the addresses of the PostgreSQL, Redis and S3 servers of a run. Each server starts when the first
// caller requests its address, and stops when the run ends (engines/keeper.ts). A variable that names a
// running server, such as TEST_DATABASE_URL, takes precedence.
import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'

const variables = process.env
const program = (name: string): string => new URL(`./engines/${name}.ts`, import.meta.url).pathname

/**
 * Starts the keeper that this process and its children share. The keeper stops when this process ends. `stop`
 * waits until it has stopped.
 */
export function startKeeper(): () => Promise<void> {
  const path = `${tmpdir()}/manager-keeper-${randomBytes(6).toString('hex')}.sock`
  const keeper = spawn(process.execPath, [program('keeper'), path], {
    // The keeper runs in its own session: a signal that ends this process must not reach it before it has cleaned up.
    detached: true,
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  keeper.unref()
  const stdin = keeper.stdin as unknown as Socket
  stdin.unref()
  variables['TEST_ENGINES'] = path
  const exit = new Promise<void>((resolve) => keeper.once('exit', () => resolve()))
  return () => {
    keeper.ref()
    stdin.end()
    return exit
  }
}

/**
 * Returns the URL of a server. The call blocks, because callers build configurations synchronously from the
 * URL.
 */
function addressOf(engine: 'postgres' | 'redis' | 's3', variable: string): string {
  const known = variables[variable]
  if (known !== undefined) return known
  if (variables['TEST_ENGINES'] === undefined) startKeeper()
  const args = [program('ask'), variables['TEST_ENGINES'] as string, engine]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  if (status !== 0) {
    // The error has no stack, because its message contains the remedy and the test did not cause it.
    const error = new Error(stderr)
    error.stack = error.message
    throw error
  }
  variables[variable] = stdout
  return stdout
}

/** Returns a superuser connection URL for the PostgreSQL server of the run. */
export const adminUrl = (): string => addressOf('postgres', 'TEST_DATABASE_URL')

/** Returns the URL of the Redis server of the run. */
export const redisUrl = (): string => addressOf('redis', 'TEST_REDIS_URL')

/**
 * Returns the URL of the S3 service of the run, with its keys: `http://<access key>:<secret key>@host:port`.
 */
export const s3Url = (): string => addressOf('s3', 'TEST_S3_URL')
