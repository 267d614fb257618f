// Adopts a database that has tables but no record of the migrations that created them. Migrations are recorded as
// applied only if they produce exactly the schema of the database.
import type { Client } from 'pg'
import { schemaHistory } from '../../generated/schema-history.ts'
import { builtIndexes } from './built-indexes.ts'
import {
  type Print,
  readAppliedMigrations,
  listKnownMigrations,
  recordMigrations,
  withMigrationLock,
} from './migrate.ts'
import {
  type Comparison,
  compareWithHistory,
  formatDifferences,
  listForeignObjects,
} from './schema-differences.ts'
import { type SchemaDescription, describeSchema } from './schema-description.ts'

const maxPrintedLines = 40

/** Columns of the layout before environments were introduced, which no migration creates. */
const oldLayoutColumns = [
  'column tenants.type',
  'column applications.tenant_id',
  'column applications.clone_of',
]

const ourTables = Object.values(schemaHistory).flatMap(({ set }) =>
  Object.keys(set).flatMap((name) => (name.startsWith('table ') ? [name.slice('table '.length)] : [])),
)

/** The migration that matches the schema, and all recorded migrations. */
export type Baseline = { last: string; recorded: string[] }

/**
 * Records the migrations up to the one that matches the schema. If none matches, or if the match is not
 * `requestedName`, prints the differences and throws. With `dryRun`, records nothing.
 */
export function migrateBaseline(
  url: string,
  print: Print,
  { requestedName: requestedMigration, dryRun }: { requestedName?: string | undefined; dryRun: boolean },
): Promise<Baseline> {
  return withMigrationLock(url, print, async (client) => {
    // One transaction covers reading and recording. Closing the session without a commit rolls it back.
    await client.query('begin')
    const baseline = await matchAndRecord(client, print, requestedMigration)
    await client.query(dryRun ? 'rollback' : 'commit')
    return baseline
  })
}

async function matchAndRecord(
  client: Client,
  print: Print,
  requestedMigration: string | undefined,
): Promise<Baseline> {
  const knownNames = listKnownMigrations()
  if (requestedMigration !== undefined && !knownNames.includes(requestedMigration))
    throw new Error(`${requestedMigration} is not a migration; known: ${knownNames.join(', ')}`)
  const appliedNames = await readAppliedMigrations(client)
  if (appliedNames.length > 0)
    throw new Error(
      `this database already records its migrations (last: ${appliedNames.at(-1)}); run \`migrate up\` instead`,
    )
  const schema = await describeSchema(client)
  for (const name of schema.keys())
    if (builtIndexes.some((index) => name.startsWith('index ') && name.endsWith(`.${index}`)))
      schema.delete(name)
  const { migration } = await matchMigration(client, print, schema, requestedMigration)
  printLimited(print, listForeignObjects(schema, schemaHistory), (name) => `ignored: ${name}`)
  await assertOwner(client)
  const recordedNames = knownNames.filter((name) => name <= migration)
  await client.query('set local search_path to default')
  await recordMigrations(client, recordedNames.length)
  return { last: migration, recorded: recordedNames }
}

/** Returns the migration that matches the schema; throws if there is none, or if it is not the requested one. */
async function matchMigration(
  client: Client,
  print: Print,
  schema: SchemaDescription,
  requestedMigration: string | undefined,
): Promise<Comparison> {
  const comparisons = compareWithHistory(schema, schemaHistory)
  const matchingComparison = comparisons.find(({ differences }) => differences.length === 0)
  const requestedComparison =
    requestedMigration === undefined
      ? matchingComparison
      : comparisons.find(({ migration }) => migration === requestedMigration)
  if (requestedComparison?.differences.length === 0) return requestedComparison
  if (matchingComparison === undefined) await refuseOtherLayouts(client, schema)
  // On a tie, the latest migration wins.
  const nearestComparison =
    requestedComparison ??
    comparisons.reduce((best, next) => (next.differences.length <= best.differences.length ? next : best))
  printLimited(print, formatDifferences(nearestComparison.differences), (line) => line)
  if (matchingComparison !== undefined)
    throw new Error(
      `the schema matches ${matchingComparison.migration}, not ${requestedMigration}; nothing was recorded: run \`migrate baseline ${matchingComparison.migration}\``,
    )
  throw new Error(
    `the schema matches no migration; the lines above list the differences from ${requestedMigration ?? `the nearest, ${nearestComparison.migration}`}; nothing was recorded: correct the differences and run the command again`,
  )
}

/** Throws for a database that cannot be corrected to match a migration: it is empty or has an older layout. */
async function refuseOtherLayouts(client: Client, schema: SchemaDescription): Promise<void> {
  const { rowCount } = await client.query(`select from pg_namespace where nspname = 'legacy'`)
  if (rowCount === 1 || oldLayoutColumns.some((name) => schema.has(name)))
    throw new Error(
      'the database has the layout from before environments, which cannot be migrated; nothing was recorded: create a new database, run `migrate up` on it, and import this one with `legacy import`',
    )
  if (!ourTables.some((table) => schema.has(`table ${table}`)))
    throw new Error('the database is empty; run `migrate up` instead of a baseline')
}

/** Later migrations alter these tables, which only the owner of a table can do. */
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
  for (const line of lines.slice(0, maxPrintedLines)) print(text(line))
  if (lines.length > maxPrintedLines) print(`… and ${lines.length - maxPrintedLines} more`)
}
