// Adopts a database that has tables but no record of the migrations that created them. Migrations are recorded as
// applied only if they produce exactly the schema of the database.
import type { Client } from 'pg'
import { schemaHistory } from '../../generated/schema-history.ts'
import { builtIndexes } from './built-indexes.ts'
import {
  type Print,
  appliedMigrations,
  knownMigrations,
  recordMigrations,
  withMigrationLock,
} from './migrate.ts'
import { type Comparison, compareWithHistory, differenceLines, foreignObjects } from './schema-differences.ts'
import { type SchemaDescription, describeSchema } from './schema-description.ts'

const maxLines = 40

/** Columns of the layout before environments were introduced, which no migration creates. */
const oldLayout = ['column tenants.type', 'column applications.tenant_id', 'column applications.clone_of']

const ourTables = Object.values(schemaHistory).flatMap(({ set }) =>
  Object.keys(set).flatMap((name) => (name.startsWith('table ') ? [name.slice('table '.length)] : [])),
)

/** The migration that matches the schema, and all migrations that were recorded. */
export type Baseline = { last: string; recorded: string[] }

/**
 * Records the migrations that match the schema. If none matches, or if the match is not `wanted`, it prints the
 * differences and throws. With `dryRun` it records nothing.
 */
export function migrateBaseline(
  url: string,
  print: Print,
  { wanted, dryRun }: { wanted?: string | undefined; dryRun: boolean },
): Promise<Baseline> {
  return withMigrationLock(url, print, async (client) => {
    // One transaction covers reading and recording. Closing the session without a commit rolls it back.
    await client.query('begin')
    const baseline = await matchAndRecord(client, print, wanted)
    await client.query(dryRun ? 'rollback' : 'commit')
    return baseline
  })
}

async function matchAndRecord(client: Client, print: Print, wanted: string | undefined): Promise<Baseline> {
  const known = knownMigrations()
  if (wanted !== undefined && !known.includes(wanted))
    throw new Error(`${wanted} is not a migration; known: ${known.join(', ')}`)
  const applied = await appliedMigrations(client)
  if (applied.length > 0)
    throw new Error(
      `this database already records its migrations (last: ${applied.at(-1)}); run \`migrate up\` instead`,
    )
  const found = await describeSchema(client)
  for (const name of found.keys())
    if (builtIndexes.some((index) => name.startsWith('index ') && name.endsWith(`.${index}`)))
      found.delete(name)
  const { migration } = await matchMigration(client, print, found, wanted)
  printLimited(print, foreignObjects(found, schemaHistory), (name) => `ignored: ${name}`)
  await assertOwner(client)
  const recorded = known.filter((name) => name <= migration)
  await client.query('set local search_path to default')
  await recordMigrations(client, recorded.length)
  return { last: migration, recorded }
}

/** Returns the migration that matches the schema; throws if there is none, or if it is not `wanted`. */
async function matchMigration(
  client: Client,
  print: Print,
  found: SchemaDescription,
  wanted: string | undefined,
): Promise<Comparison> {
  const comparisons = compareWithHistory(found, schemaHistory)
  const equal = comparisons.find(({ differences }) => differences.length === 0)
  const requested = wanted === undefined ? equal : comparisons.find(({ migration }) => migration === wanted)
  if (requested?.differences.length === 0) return requested
  if (equal === undefined) await refuseOtherLayouts(client, found)
  // On a tie, the latest migration wins.
  const nearest =
    requested ??
    comparisons.reduce((best, next) => (next.differences.length <= best.differences.length ? next : best))
  printLimited(print, differenceLines(nearest.differences), (line) => line)
  if (equal !== undefined)
    throw new Error(
      `the schema matches ${equal.migration}, not ${wanted}; nothing was recorded: run \`migrate baseline ${equal.migration}\``,
    )
  throw new Error(
    `the schema matches no migration; the lines above list the differences from ${wanted ?? `the nearest, ${nearest.migration}`}; nothing was recorded: correct the differences and run the command again`,
  )
}

/** Throws for a database that cannot be corrected to match a migration: it is empty or has an older layout. */
async function refuseOtherLayouts(client: Client, found: SchemaDescription): Promise<void> {
  const { rowCount } = await client.query(`select from pg_namespace where nspname = 'legacy'`)
  if (rowCount === 1 || oldLayout.some((name) => found.has(name)))
    throw new Error(
      'the database has the layout from before environments, which cannot be migrated; nothing was recorded: create a new database, run `migrate up` on it, and import this one with `legacy import`',
    )
  if (!ourTables.some((table) => found.has(`table ${table}`)))
    throw new Error('the database is empty; run `migrate up` instead of a baseline')
}

/** Later migrations alter these tables, which only their owner can do. */
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
      `the table ${row.table} belongs to the role "${row.owner}"; the role "${row.me}" cannot migrate it; nothing was recorded: run the command as "${row.owner}"`,
    )
}

function printLimited(print: Print, lines: readonly string[], text: (line: string) => string): void {
  for (const line of lines.slice(0, maxLines)) print(text(line))
  if (lines.length > maxLines) print(`… and ${lines.length - maxLines} more`)
}
