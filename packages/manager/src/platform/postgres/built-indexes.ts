// Indexes of large tables that are not partitioned. A migration runs in a transaction, in which PostgreSQL builds none
// concurrently, and any other way locks out writers for as long as all rows take to read. So `migrate up` builds these after the
// migrations; until one is there, what would use it reads more.
import type { Client } from 'pg'
import { withoutLockTimeout } from './partition-indexes.ts'

const indexes: Readonly<Record<string, string>> = {
  audit_logs_created_at_idx:
    'audit_logs using brin (created_at) with (pages_per_range = 32, autosummarize = on)',
}

/** They may be there or not, whatever the migrations. */
export const builtIndexes: readonly string[] = Object.keys(indexes)

/** Builds what is missing; what a former attempt left unfinished is begun again. */
export async function buildIndexes(client: Client, say: (line: string) => void): Promise<void> {
  for (const [name, definition] of Object.entries(indexes)) {
    const { rows } = await client.query<{ isValid: boolean }>(
      `select i.indisvalid as "isValid" from pg_index i where i.indexrelid = to_regclass($1)`,
      [`public.${name}`],
    )
    if (rows[0]?.isValid === true) continue
    if (await hasRows(client, definition)) say(`building ${name}, while the traffic goes on`)
    if (rows.length > 0) await client.query(`drop index concurrently public.${name}`)
    await withoutLockTimeout(client, `create index concurrently ${name} on public.${definition}`)
  }
}

async function hasRows(client: Client, definition: string): Promise<boolean> {
  const [table] = definition.split(' ')
  const { rowCount } = await client.query(`select from public.${table} limit 1`)
  return rowCount === 1
}
