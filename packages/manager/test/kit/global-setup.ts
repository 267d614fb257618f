// Runs once before all test files. It prepares the servers that tests use (engines.ts), or uses the PostgreSQL server
// in TEST_DATABASE_URL. In the second case, a process that outlives the run removes the databases of the run.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { randomBytes } from 'node:crypto'
import { asAdmin, prepareTemplate } from './databases.ts'
import { startKeeper } from '@manager/harness/run-engines.ts'

/** Prepares the run and returns its teardown function. */
export default async function setup(): Promise<() => Promise<void>> {
  // The vitest projects of a run share one setup.
  if (process.env['TEST_RUN'] !== undefined) return () => Promise.resolve()
  // A test that kills a run sets the name of the run.
  const run = process.env['NAMED_TEST_RUN'] ?? randomBytes(6).toString('hex')
  process.env['TEST_RUN'] = run
  if (process.env['TEST_DATABASE_URL'] === undefined) return startKeeper()
  const stops = [startReaper(run), startKeeper()]
  await dropForgotten(await prepareTemplate())
  return async () => {
    await Promise.all(stops.map((stop) => stop()))
  }
}

function startReaper(run: string): () => Promise<void> {
  const reaper = spawn(process.execPath, [new URL('./database-reaper.ts', import.meta.url).pathname, run], {
    // Start a new session, so that a signal that ends this process is not sent to the reaper.
    detached: true,
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  reaper.unref()
  return async () => {
    reaper.ref()
    reaper.stdin.end()
    await once(reaper, 'exit')
  }
}

/**
 * Drops templates of older migrations, and databases left behind by a crashed machine. Keeps the databases of
 * other runs.
 */
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
