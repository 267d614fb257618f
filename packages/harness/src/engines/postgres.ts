// Runs a private PostgreSQL server: for development, for CI, and for tests that stop or kill it.
import { execFileSync } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { ensurePostgres } from './install.ts'

export type Postgres = {
  port: number
  url: string
  start(): void
  stop(mode?: 'fast' | 'immediate'): void
}

/** Returns a free loopback port below the ephemeral range. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000)
    const free = await new Promise<boolean>((resolve) => {
      const probe = createServer()
      probe.once('error', () => resolve(false))
      probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
    })
    if (free) return port
  }
}

/**
 * Starts a server in the folder and creates the cluster if it does not exist. Data survives a stop. If a
 * server is still running on this data because its parent was killed, it is stopped first. A durable server
 * waits for the disk, as in production.
 */
export function startPostgres(dir: string, port: number, { durable = false } = {}): Postgres {
  const bin = ensurePostgres()
  const data = `${dir}/data`
  mkdirSync(dir, { recursive: true })
  // PostgreSQL refuses to run as root. The package creates a separate user for it.
  const isRoot = process.getuid?.() === 0
  const account = isRoot ? findPostgresAccount() : null
  if (isRoot && account === null)
    throw new Error('cannot run PostgreSQL as root: the user postgres does not exist')
  if (account !== null) chownSync(dir, account.uid, account.gid)
  const run = (program: string, args: string[]): void => {
    const command = [`${bin}/${program}`, ...args]
    const full = account === null ? command : ['runuser', '-u', 'postgres', '--', ...command]
    try {
      execFileSync(full[0] as string, full.slice(1), { stdio: ['ignore', 'ignore', 'pipe'], cwd: '/' })
    } catch (error) {
      const [reason = 'the process was terminated'] = String((error as { stderr: unknown }).stderr)
        .trim()
        .split('\n')
      throw new Error(`PostgreSQL: ${reason} (see ${dir}/log)`, { cause: error })
    }
  }
  if (!existsSync(`${data}/PG_VERSION`))
    run('initdb', [
      '-D',
      data,
      '-U',
      'postgres',
      '-A',
      'trust',
      '-E',
      'UTF8',
      '--locale=C.UTF-8',
      '--no-sync',
    ])
  const options = [
    `-p ${port}`,
    `-k ${dir}`,
    '-c listen_addresses=127.0.0.1',
    '-c max_connections=300',
    // The data is temporary, so waiting for the disk would only slow down tests.
    ...(durable ? [] : ['-c fsync=off', '-c full_page_writes=off']),
  ]
  const start = (): void =>
    run('pg_ctl', ['-D', data, '-l', `${dir}/log`, '-o', options.join(' '), '-w', 'start'])
  if (isLeftOver(data)) run('pg_ctl', ['-D', data, '-m', 'fast', '-w', 'stop'])
  start()
  return {
    port,
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    start,
    stop: (mode = 'fast') => run('pg_ctl', ['-D', data, '-m', mode, '-w', 'stop']),
  }
}

/**
 * Returns whether a server is running on the data. After a kill, another program may have received the process ID in
 * the PID file, and PostgreSQL would refuse to start. In that case, this function removes the file.
 */
function isLeftOver(data: string): boolean {
  const file = `${data}/postmaster.pid`
  let command: string
  try {
    const [pid = ''] = readFileSync(file, 'utf8').split('\n')
    command = readFileSync(`/proc/${Number(pid)}/cmdline`, 'utf8')
  } catch {
    return false
  }
  const isServer = command.split('\0').includes(data)
  if (!isServer) rmSync(file)
  return isServer
}

/** Returns the `postgres` user that the package creates, or null. Root runs PostgreSQL as this user. */
export const findPostgresAccount = (): { uid: number; gid: number } | null => findAccount('postgres')

/** Returns a user of this machine, or null. Root runs servers as a user without rights. */
export function findAccount(name: string): { uid: number; gid: number } | null {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith(`${name}:`))
  const [, , uid, gid] = line?.split(':') ?? []
  return uid === undefined || gid === undefined ? null : { uid: Number(uid), gid: Number(gid) }
}
