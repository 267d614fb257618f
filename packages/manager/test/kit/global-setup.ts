// Runs once before all test files: the template database they clone, what removes the databases of the run, and what starts
// an S3 service when a test asks for one.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { asAdmin, prepareTemplate } from './databases.ts'

/** Prepares the run; returns what ends it. */
export default async function setup(): Promise<() => Promise<void>> {
  // A test that kills a run names it.
  const run = process.env['NAMED_TEST_RUN'] ?? randomBytes(6).toString('hex')
  process.env['TEST_RUN'] = run
  const s3Socket = `${tmpdir()}/manager-s3-${run}.sock`
  process.env['TEST_S3_SOCKET'] = s3Socket
  const keepers = [
    startKeeper(new URL('./database-reaper.ts', import.meta.url), run),
    startKeeper(new URL('../engines/s3-keeper.ts', import.meta.url), s3Socket),
  ]
  await dropForgotten(await prepareTemplate())
  return async () => {
    const ends = keepers.map((keeper) => {
      keeper.ref()
      keeper.stdin?.end()
      return once(keeper, 'exit')
    })
    await Promise.all(ends)
  }
}

function startKeeper({ pathname }: URL, argument: string): ChildProcess {
  const keeper = spawn(process.execPath, [pathname, argument], {
    // Its own session: what ends this process, by whatever signal, does not end the keeper.
    detached: true,
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  keeper.unref()
  return keeper
}

/** Templates of former migrations, and whatever is left by a machine that stopped; other runs keep theirs. */
function dropForgotten(template: string): Promise<void> {
  return asAdmin(async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `select d.datname as name from pg_database d
       where (d.datname like 'svc_test_%' or (d.datname like 'svc_template_%' and d.datname <> $1))
         and (pg_stat_file('base/' || d.oid || '/PG_VERSION', true)).modification < now() - interval '2 hours'
         and not exists (select 1 from pg_stat_activity a where a.datname = d.datname)`,
      [template],
    )
    for (const { name } of rows) await client.query(`drop database if exists ${name}`)
  })
}
