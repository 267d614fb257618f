// Takes backups with PostgreSQL's own programs, as in production, and restores them into a new cluster.
import { execFile } from 'node:child_process'
import { chmodSync, cpSync, rmSync } from 'node:fs'
import { promisify } from 'node:util'
import { type Engines, serviceRole } from '../cluster.ts'
import { ensurePostgres } from '@manager/harness/engines/install.ts'
import { findPostgresAccount } from '@manager/harness/engines/postgres.ts'
import { recoverFrom, waitForRecovery } from './archive.ts'
import { type WalSample, findCompleteUntil } from './wal.ts'

/** A dump, a base backup with its own WAL, or a base backup with an archive of all later WAL. */
export type Method = 'base' | 'archive' | 'dump'
export type Backup = {
  path: string
  /** The backup contains every change that was acknowledged before this time, on the clock of this process. */
  completeUntil: number
  /** Folder with the WAL after the backup, if it is archived. */
  archive?: string
}

const execute = promisify(execFile)
const run = (program: string, args: string[]): Promise<{ stdout: string; stderr: string }> =>
  execute(`${ensurePostgres()}/${program}`, args, { maxBuffer: 64 * 1024 * 1024, cwd: '/' })

/** Takes a backup while the server keeps running. */
export const takeBackup = (method: Method, engines: Engines, folder: string): Promise<Backup> =>
  method === 'dump' ? takeDump(engines, `${folder}/manager.dump`) : takeBase(engines, `${folder}/base`)

/** A dump contains the data as of a snapshot at its start. */
async function takeDump({ adminUrl }: Engines, path: string): Promise<Backup> {
  const completeUntil = Date.now()
  await run('pg_dump', ['-Fc', '-d', adminUrl, '-f', path])
  return { path, completeUntil }
}

/** A base backup with its WAL contains the data as of its end. It reports that end as a WAL position. */
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
  return { path, completeUntil: findCompleteUntil(samples, end) }
}

/** Restores the backup into a new cluster with a different port and folder. */
export async function restoreBackup(method: Method, backup: Backup, engines: Engines): Promise<void> {
  if (method === 'dump') {
    await engines.sql.query(`create role ${serviceRole} login`)
    await run('pg_restore', ['--exit-on-error', '-d', engines.adminUrl, backup.path])
    return
  }
  await engines.applyFault('postgres stop fast')
  const data = `${engines.dir}/data`
  rmSync(data, { recursive: true })
  cpSync(backup.path, data, { recursive: true })
  chmodSync(data, 0o700)
  // PostgreSQL runs as a different user if this process runs as root.
  const account = process.getuid?.() === 0 ? findPostgresAccount() : null
  const { archive } = backup
  const copied = archive === undefined ? [data] : [data, recoverFrom(archive, engines)]
  if (account !== null) await execute('chown', ['-R', `${account.uid}:${account.gid}`, ...copied])
  await engines.applyFault('postgres start')
  await waitForRecovery(engines)
}
