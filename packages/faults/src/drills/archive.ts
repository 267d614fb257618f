// Archives WAL in addition to the base backup. pg_receivewal copies every change immediately, so that a restore
// includes the changes after the backup.
import { appendFileSync, cpSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { endChild, startChild, until } from '../children.ts'
import type { Engines } from '../cluster.ts'
import { ensurePostgres } from '@manager/harness/engines/install.ts'
import { type WalSample, findCompleteUntil } from './wal.ts'

export type Archive = {
  path: string
  /** Stops archiving. Resolves to the time at which the last archived change was acknowledged. */
  end(): Promise<number>
}

const intervalMs = 50
const name = 'pg_receivewal'

/** Starts receiving the WAL of the server. */
export async function startArchive({ adminUrl, sql }: Engines, folder: string): Promise<Archive> {
  const path = `${folder}/archive`
  mkdirSync(path)
  const child = startChild({
    program: `${ensurePostgres()}/${name}`,
    args: ['-d', adminUrl, '-D', path, '--synchronous', '--no-loop'],
    env: {},
    logFile: `${folder}/archive.log`,
  })
  const samples: WalSample[] = []
  let received = '0/0'
  const sample = async (): Promise<boolean> => {
    const at = Date.now()
    const { rows } = await sql.query<{ lsn: string; flushed: string | null }>(
      `select pg_current_wal_lsn()::text as lsn,
         (select max(flush_lsn)::text from pg_stat_replication where application_name = $1) as flushed`,
      [name],
    )
    samples.push({ at, lsn: rows[0]?.lsn ?? '0/0' })
    received = rows[0]?.flushed ?? received
    return received !== '0/0'
  }
  await until('the WAL archive', 20_000, sample)
  const timer = setInterval(() => void sample().catch(() => undefined), intervalMs)
  return {
    path,
    end: async () => {
      clearInterval(timer)
      await endChild(child)
      return findCompleteUntil(samples, received)
    },
  }
}

/** Configures a stopped server to replay this archive on top of its base backup. */
export function recoverFrom(archive: string, engines: Pick<Engines, 'dir'>): string {
  const [copy, data] = [`${engines.dir}/archive`, `${engines.dir}/data`]
  cpSync(archive, copy, { recursive: true })
  // The newest segment is incomplete and has a suffix that restore_command does not know.
  for (const file of readdirSync(copy).filter((one) => one.endsWith('.partial')))
    renameSync(`${copy}/${file}`, `${copy}/${file.slice(0, -'.partial'.length)}`)
  appendFileSync(`${data}/postgresql.auto.conf`, `\nrestore_command = 'cp ${copy}/%f %p'\n`)
  writeFileSync(`${data}/recovery.signal`, '')
  return copy
}

/** Waits until the server has replayed the archive and accepts writes. */
export const waitForRecovery = ({ sql }: Pick<Engines, 'sql'>): Promise<void> =>
  until('the end of the recovery', 60_000, async () => {
    const { rows } = await sql.query<{ isOpen: boolean }>('select not pg_is_in_recovery() as "isOpen"')
    return rows[0]?.isOpen === true
  })
