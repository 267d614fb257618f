// An archive of the WAL beside the base backup: every change is written to a second place as it happens, so that a restore
// brings back what came after the backup too.
import { appendFileSync, cpSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { endChild, startChild, until } from '../children.ts'
import type { Engines } from '../cluster.ts'
import { ensurePostgres } from '@manager/harness/engines/install.ts'
import { type WalSample, holdsUntil } from './wal.ts'

export type Archive = {
  path: string
  /** Ends when the server has ended, or is told to; resolves to when the last change was acknowledged that it holds. */
  end(): Promise<number>
}

const everyMs = 50
const name = 'pg_receivewal'

/** Starts to receive the WAL of this server. */
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
  const look = async (): Promise<boolean> => {
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
  await until('the archive of the WAL', 20_000, look)
  const timer = setInterval(() => void look().catch(() => undefined), everyMs)
  return {
    path,
    end: async () => {
      clearInterval(timer)
      await endChild(child)
      return holdsUntil(samples, received)
    },
  }
}

/** Lets a server that has not started yet go on from its base backup through this archive. */
export function recoverFrom(archive: string, engines: Pick<Engines, 'dir'>): string {
  const [copy, data] = [`${engines.dir}/archive`, `${engines.dir}/data`]
  cpSync(archive, copy, { recursive: true })
  // The newest segment is not full yet.
  for (const file of readdirSync(copy).filter((one) => one.endsWith('.partial')))
    renameSync(`${copy}/${file}`, `${copy}/${file.slice(0, -'.partial'.length)}`)
  appendFileSync(`${data}/postgresql.auto.conf`, `\nrestore_command = 'cp ${copy}/%f %p'\n`)
  writeFileSync(`${data}/recovery.signal`, '')
  return copy
}

/** Waits until it has gone through all of it, and takes writes. */
export const recovered = ({ sql }: Pick<Engines, 'sql'>): Promise<void> =>
  until('the end of the recovery', 60_000, async () => {
    const { rows } = await sql.query<{ isOpen: boolean }>('select not pg_is_in_recovery() as "isOpen"')
    return rows[0]?.isOpen === true
  })
