// Runs once before all test files: the template database they clone, and removal of what earlier, broken runs left behind.
import { Client } from 'pg'
import { prepareTemplate } from './databases.ts'
import { adminUrl } from './engines.ts'

const maxAgeMs = 2 * 3_600_000

/** A database of a run that cannot be under way any more; other runs on the same server keep theirs. */
function isStale(name: string): boolean {
  const [, , , madeAt] = name.split('_')
  return name.startsWith('svc_template_') || Date.now() - Number.parseInt(madeAt ?? '0', 36) > maxAgeMs
}

export default async function setup(): Promise<void> {
  const template = await prepareTemplate()
  const client = new Client({ connectionString: adminUrl() })
  await client.connect()
  const { rows } = await client.query<{ name: string }>(
    `select d.datname as name from pg_database d
     where (d.datname like 'svc_test_%' or (d.datname like 'svc_template_%' and d.datname <> $1))
       and not exists (select 1 from pg_stat_activity a where a.datname = d.datname)`,
    [template],
  )
  for (const { name } of rows.filter((row) => isStale(row.name)))
    await client.query(`drop database if exists ${name}`)
  await client.end()
}
