// Backups as operators take them, with PostgreSQL's own programs, and how they are restored into another cluster.
import { execFile } from 'node:child_process'
import { chmodSync, cpSync, rmSync } from 'node:fs'
import { promisify } from 'node:util'
import { type Engines, serviceRole } from '../cluster.ts'
import { ensurePostgres } from '@manager/harness/engines/install.ts'
import { findPostgresAccount } from '@manager/harness/engines/postgres.ts'
import { recoverFrom, recovered } from './archive.ts'
import { type WalSample, holdsUntil } from './wal.ts'

/** A dump, a base backup with its own WAL, or one with an archive of all WAL since. */
export type Method = 'base' | 'archive' | 'dump'
export type Backup = {
  path: string
  /** Everything acknowledged before this is in it, by the clock of this process. */
  holdsUntil: number
  /** Where the WAL since is, if it is kept. */
  archive?: string
}

const execute = promisify(execFile)
const run = (program: string, args: string[]): Promise<{ stdout: string; stderr: string }> =>
  execute(`${ensurePostgres()}/${program}`, args, { maxBuffer: 64 * 1024 * 1024, cwd: '/' })

/** Takes a backup of a server that goes on working. */
export const takeBackup = (method: Method, engines: Engines, folder: string): Promise<Backup> =>
  method === 'dump' ? takeDump(engines, `${folder}/manager.dump`) : takeBase(engines, `${folder}/base`)

/** A dump is of one snapshot, which it takes when it begins. */
async function takeDump({ adminUrl }: Engines, path: string): Promise<Backup> {
  const holdsUntil = Date.now()
  await run('pg_dump', ['-Fc', '-d', adminUrl, '-f', path])
  return { path, holdsUntil }
}

/** A base backup with its WAL is of the moment at which it ends, which it names by a position of the WAL. */
async function takeBase({ adminUrl, sql }: Engines, path: string): Promise<Backup> {
  const samples: WalSample[] = []
  const sample = async (): Promise<void> => {
    const at = Date.now()
    const { rows } = await sql.query<{ lsn: string }>('select pg_current_wal_lsn()::text as lsn')
    samples.push({ at, lsn: rows[0]?.lsn ?? '0/0' })
  }
  await sample()
  const timer = setInterval(() => void sample().catch(() => undefined), 50)
  const args = ['-d', adminUrl, '-D', path, '-X', 'stream', '-c', 'fast', '-v']
  const { stderr } = await run('pg_basebackup', args).finally(() => clearInterval(timer))
  const [, end = '0/0'] = /write-ahead log end point: ([0-9A-F]+\/[0-9A-F]+)/.exec(stderr) ?? []
  return { path, holdsUntil: holdsUntil(samples, end) }
}

/** Brings it back into a cluster that was just made, on another port and in another folder. */
export async function restoreBackup(method: Method, backup: Backup, engines: Engines): Promise<void> {
  if (method === 'dump') {
    await engines.sql.query(`create role ${serviceRole} login`)
    await run('pg_restore', ['--exit-on-error', '-d', engines.adminUrl, backup.path])
    return
  }
  await engines.harm('postgres stop fast')
  const data = `${engines.dir}/data`
  rmSync(data, { recursive: true })
  cpSync(backup.path, data, { recursive: true })
  chmodSync(data, 0o700)
  // PostgreSQL runs as another user when this runs as root.
  const account = process.getuid?.() === 0 ? findPostgresAccount() : null
  const { archive } = backup
  const copied = archive === undefined ? [data] : [data, recoverFrom(archive, engines)]
  if (account !== null) await execute('chown', ['-R', `${account.uid}:${account.gid}`, ...copied])
  await engines.harm('postgres start')
  await recovered(engines)
}
