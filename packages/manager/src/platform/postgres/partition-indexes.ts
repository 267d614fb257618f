// Indexes that a migration adds to a partitioned table. A normal build blocks writers until it has read all
// rows, and PostgreSQL cannot build an index concurrently on a partitioned table. A migration therefore
// creates the index `on only` the table, which is fast. This code then builds the index of each existing
// partition concurrently.
import type { Client } from 'pg'

type MissingPart = {
  index: string
  partition: string
  hasRows: boolean
  name: string
  definition: string
  state: 'valid' | 'invalid' | null
}

/**
 * Missing parts of indexes on partitioned tables. Parts that an interrupted attempt left unfinished are `invalid`; a
 * `valid` part only has to be attached. A partitioned index is valid once all of its parts are attached.
 */
const missingPartsQuery = `
  select parent.index, p.relname as partition, pg_relation_size(p.oid) > 0 as "hasRows", part.name, parent.definition,
    (select case when x.indisvalid then 'valid' else 'invalid' end from pg_index x
     where x.indexrelid = to_regclass(format('public.%I', part.name))) as state
  from (
    select i.indexrelid, i.indrelid, c.relname as index, t.relname as table,
      substring(pg_get_indexdef(i.indexrelid) from ' USING .*$') as definition
    from pg_index i join pg_class c on c.oid = i.indexrelid join pg_class t on t.oid = i.indrelid
    where c.relkind = 'I' and c.relnamespace = 'public'::regnamespace and not i.indisvalid and not i.indisunique
  ) parent
  join pg_inherits h on h.inhparent = parent.indrelid
  join pg_class p on p.oid = h.inhrelid
  cross join lateral (select p.relname || substr(parent.index, length(parent.table) + 1) as name) part
  where not exists (
    select from pg_inherits a join pg_index x on x.indexrelid = a.inhrelid
    where a.inhparent = parent.indexrelid and x.indrelid = p.oid
  )
  order by parent.index, p.relname`

/** Builds and attaches missing parts; `attach` runs a statement that may have to wait for a table lock. */
export async function buildPartitionIndexes(
  client: Client,
  print: (line: string) => void,
  attach: (run: () => Promise<unknown>) => Promise<unknown>,
): Promise<void> {
  const { rows } = await client.query<MissingPart>(missingPartsQuery)
  const quoteName = (name: string): string => `public.${client.escapeIdentifier(name)}`
  for (const { index, partition, hasRows, name, definition, state } of rows) {
    if (state !== 'valid') {
      if (hasRows) print(`building ${index} on ${partition} without blocking traffic`)
      if (state === 'invalid') await client.query(`drop index concurrently ${quoteName(name)}`)
      await runWithoutLockTimeout(
        client,
        `create index concurrently ${client.escapeIdentifier(name)} on ${quoteName(partition)}${definition}`,
      )
    }
    await attach(() => client.query(`alter index ${quoteName(index)} attach partition ${quoteName(name)}`))
  }
}

/** Runs a concurrent build, which waits for transactions that started before it but blocks no other session. */
export async function runWithoutLockTimeout(client: Client, statement: string): Promise<void> {
  const { rows } = await client.query<{ before: string }>(`select current_setting('lock_timeout') as before`)
  await client.query('set lock_timeout = 0')
  await client.query(statement)
  await client.query(`select set_config('lock_timeout', $1, false)`, [rows[0]?.before])
}
