// A database whose tables exist, without a record of the migrations that made them. It is recognised by its schema: only
// when that is exactly what the migrations up to one of them make, are these recorded as applied.
import type { Client } from 'pg'
import { schemaHistory } from '../../generated/schema-history.ts'
import { builtIndexes } from './built-indexes.ts'
import { type Say, appliedMigrations, knownMigrations, recordMigrations, underLock } from './migrate.ts'
import { type Comparison, compareWithHistory, differenceLines, foreignObjects } from './schema-differences.ts'
import { type SchemaDescription, describeSchema } from './schema-description.ts'

const maxLines = 40

/** What the layout from before environments has, and the schema of no migration. */
const oldLayout = ['column tenants.type', 'column applications.tenant_id', 'column applications.clone_of']

const ourTables = Object.values(schemaHistory).flatMap(({ set }) =>
  Object.keys(set).flatMap((name) => (name.startsWith('table ') ? [name.slice('table '.length)] : [])),
)

export type Baseline = { last: string; recorded: string[] }

/**
 * Records the migrations that the schema corresponds to; throws, having said what differs, when it corresponds to none, or
 * not to `wanted`. With `dryRun` it records nothing.
 */
export function migrateBaseline(
  url: string,
  say: Say,
  { wanted, dryRun }: { wanted?: string | undefined; dryRun: boolean },
): Promise<Baseline> {
  return underLock(url, say, async (client) => {
    // What is read and what is recorded belong together; ending the session without a commit undoes it.
    await client.query('begin')
    const baseline = await recogniseAndRecord(client, say, wanted)
    await client.query(dryRun ? 'rollback' : 'commit')
    return baseline
  })
}

async function recogniseAndRecord(client: Client, say: Say, wanted: string | undefined): Promise<Baseline> {
  const known = knownMigrations()
  if (wanted !== undefined && !known.includes(wanted))
    throw new Error(`${wanted} is not a migration; known: ${known.join(', ')}`)
  const applied = await appliedMigrations(client)
  if (applied.length > 0)
    throw new Error(`this database is under versioned migrations already (${applied.at(-1)})`)
  const found = await describeSchema(client)
  for (const name of found.keys())
    if (builtIndexes.some((index) => name.startsWith('index ') && name.endsWith(`.${index}`)))
      found.delete(name)
  const { migration } = await recognise(client, say, found, wanted)
  sayBounded(say, foreignObjects(found, schemaHistory), (name) => `left alone: ${name}`)
  await assertOwner(client)
  const recorded = known.filter((name) => name <= migration)
  await client.query('set local search_path to default')
  await recordMigrations(client, recorded.length)
  return { last: migration, recorded }
}

/** The migration whose schema the database has; refuses when there is none, or when it is not the wanted one. */
async function recognise(
  client: Client,
  say: Say,
  found: SchemaDescription,
  wanted: string | undefined,
): Promise<Comparison> {
  const comparisons = compareWithHistory(found, schemaHistory)
  const equal = comparisons.find(({ differences }) => differences.length === 0)
  const asked = wanted === undefined ? equal : comparisons.find(({ migration }) => migration === wanted)
  if (asked?.differences.length === 0) return asked
  if (equal === undefined) await refuseOtherLayouts(client, found)
  // Of several that are equally near, the latest.
  const nearest =
    asked ??
    comparisons.reduce((best, next) => (next.differences.length <= best.differences.length ? next : best))
  sayBounded(say, differenceLines(nearest.differences), (line) => line)
  if (equal !== undefined)
    throw new Error(
      `the schema is that of ${equal.migration}, not of ${wanted}; nothing was recorded: run \`migrate baseline ${equal.migration}\``,
    )
  throw new Error(
    `the schema is that of no migration; the lines above tell how it differs from ${wanted ?? `the nearest, ${nearest.migration}`}; nothing was recorded: correct what differs and run the command again`,
  )
}

/** A database that no correction brings to a migration: there is nothing in it, or an older layout. */
async function refuseOtherLayouts(client: Client, found: SchemaDescription): Promise<void> {
  const { rowCount } = await client.query(`select from pg_namespace where nspname = 'legacy'`)
  if (rowCount === 1 || oldLayout.some((name) => found.has(name)))
    throw new Error(
      'the database has the layout from before environments, which no migration brings forward; nothing was recorded: create a new database, run `migrate up` on it, and import this one with `legacy import`',
    )
  if (!ourTables.some((table) => found.has(`table ${table}`)))
    throw new Error('the database is empty; run `migrate up` instead of a baseline')
}

/** Later migrations change these tables, which only their owner may. */
async function assertOwner(client: Client): Promise<void> {
  const { rows } = await client.query<{ table: string; owner: string; me: string }>(
    `select c.relname as table, pg_get_userbyid(c.relowner) as owner, current_user as me
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p') and not pg_has_role(c.relowner, 'usage')
       and case n.nspname when 'public' then '' else n.nspname || '.' end || c.relname = any($1)
     order by 1 limit 1`,
    [ourTables],
  )
  const [row] = rows
  if (row !== undefined)
    throw new Error(
      `the table ${row.table} belongs to the role "${row.owner}", not to "${row.me}", who could not migrate it further; nothing was recorded: run the command as "${row.owner}"`,
    )
}

function sayBounded(say: Say, lines: readonly string[], text: (line: string) => string): void {
  for (const line of lines.slice(0, maxLines)) say(text(line))
  if (lines.length > maxLines) say(`… and ${lines.length - maxLines} more`)
}
