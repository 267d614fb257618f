// Versioned, forward-only SQL migrations. A command runs them, never the service, which only checks the schema at
// startup.
import { readdirSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { runner } from 'node-pg-migrate'
import { Client, type ClientBase, type Pool } from 'pg'
import { withOperatorErrors } from './operator-errors.ts'
import { buildIndexes } from './built-indexes.ts'
import { buildPartitionIndexes } from './partition-indexes.ts'
import { assertServiceRole, grantPrivileges } from './privileges.ts'

const migrationsFolder = new URL('../../../migrations/', import.meta.url).pathname
const migrationsTable = 'pgmigrations'
// An arbitrary lock id that all migrators share: a second migrator waits until the first one is done.
const lockKey = 7_202_611_152
const lockPollMs = 200
const lockTimeoutMs = 2_000
const maxAttempts = 15

/** The migrations of a database compared with those of this release. */
export type SchemaStatus = {
  applied: string[]
  pending: string[]
  unknown: string[]
  verdict: 'fits' | 'too old' | 'too new'
}
/** Prints a line for the operator. */
export type Print = (line: string) => void

/** Returns the migrations of this release, in order. */
export function listKnownMigrations(): string[] {
  return readdirSync(migrationsFolder)
    .filter((file) => file.endsWith('.sql'))
    .map((file) => file.slice(0, -4))
    .toSorted()
}

/** Compares the migrations of the database with those of this release. */
export async function readSchemaStatus(client: ClientBase | Pool): Promise<SchemaStatus> {
  const appliedNames = await readAppliedMigrations(client)
  const knownNames = listKnownMigrations()
  const pendingNames = knownNames.filter((name) => !appliedNames.includes(name))
  const unknownNames = appliedNames.filter((name) => !knownNames.includes(name))
  if (pendingNames.length > 0)
    return { applied: appliedNames, pending: pendingNames, unknown: unknownNames, verdict: 'too old' }
  const { rows } = await client.query<{ oldest: string }>(
    'select oldest_migration as oldest from schema_compatibility',
  )
  const oldestName = rows[0]?.oldest ?? ''
  return {
    applied: appliedNames,
    pending: pendingNames,
    unknown: unknownNames,
    verdict: knownNames.includes(oldestName) ? 'fits' : 'too new',
  }
}

/** Returns the recorded migrations in order; none if the migrations table does not exist. */
export async function readAppliedMigrations(client: ClientBase | Pool): Promise<string[]> {
  const { rows: tables } = await client.query<{ found: string | null }>('select to_regclass($1) as found', [
    migrationsTable,
  ])
  if (tables[0]?.found === null || tables[0] === undefined) return []
  const { rows } = await client.query<{ name: string }>(`select name from ${migrationsTable} order by id`)
  return rows.map((row) => row.name)
}

/** Throws an error that says what to do, unless this release can run on the schema. */
export async function assertSchemaFits(client: ClientBase | Pool): Promise<void> {
  const { verdict, pending, unknown } = await readSchemaStatus(client)
  if (verdict === 'too old')
    throw new Error(
      `the database schema is too old: ${pending.join(', ')} must be applied; run \`npm run manager -- migrate up\` first`,
    )
  if (verdict === 'too new')
    throw new Error(
      `the database schema is too new for this release, which does not know ${unknown.join(', ')}; deploy a newer release`,
    )
}

/** Applies the pending migrations and returns their names. */
export function migrateUp(url: string, print: Print, serviceRole?: string): Promise<string[]> {
  return withMigrationLock(url, print, async (client) => {
    // The role is checked first, so that a typo does not make the command fail after the migrations have run.
    if (serviceRole !== undefined) await assertServiceRole(client, serviceRole)
    const newMigrations = await retryLockTimeouts(client, print, () =>
      runner({
        dbClient: client,
        dir: migrationsFolder,
        migrationsTable,
        direction: 'up',
        noLock: true,
        checkOrder: true,
        log: () => undefined,
      }),
    )
    if (serviceRole !== undefined) await grantPrivileges(client, serviceRole)
    await buildIndexes(client, print)
    await buildPartitionIndexes(client, print, (attach) => retryLockTimeouts(client, print, attach))
    return newMigrations.map((migration) => migration.name)
  })
}

/** Records the first `count` migrations as applied, without running them. */
export async function recordMigrations(client: Client, count: number): Promise<void> {
  await runner({
    dbClient: client,
    dir: migrationsFolder,
    migrationsTable,
    direction: 'up',
    noLock: true,
    fake: true,
    count,
    log: () => undefined,
  })
}

/** Runs the work on a separate connection and closes it. */
export function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  return withOperatorErrors(url, async () => {
    const client = new Client({
      connectionString: url,
      application_name: 'manager-migrate',
      connectionTimeoutMillis: 5_000,
    })
    await client.connect()
    try {
      return await work(client)
    } finally {
      await client.end()
    }
  })
}

/** Runs the work while no other migrator is running. */
export function withMigrationLock<T>(
  url: string,
  print: Print,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  // Ending the session releases the lock.
  return withClient(url, async (client) => {
    await assertMayMigrate(client)
    if (!(await tryLock(client))) {
      print('another migration is running; waiting for it to finish')
      // Polling avoids a deadlock: the other migrator may build an index, which waits for all earlier statements.
      do await wait(lockPollMs)
      while (!(await tryLock(client)))
    }
    await client.query(`set lock_timeout = ${lockTimeoutMs}`)
    return work(client)
  })
}

/** Checks the privilege before the runner starts, because the runner would report a missing one as a stack trace. */
async function assertMayMigrate(client: Client): Promise<void> {
  const { rows } = await client.query<{ me: string; may: boolean }>(
    `select current_user as me, coalesce(
       (select pg_has_role(relowner, 'usage') from pg_class where oid = to_regclass($1)),
       has_schema_privilege('public', 'create')) as may`,
    [migrationsTable],
  )
  if (rows[0]?.may !== true)
    throw new Error(
      `the role "${rows[0]?.me}" may not change the schema; migrate as the owner of the database: database.url (SVC_DATABASE_URL) names the role`,
    )
}

async function tryLock(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [
    lockKey,
  ])
  return rows[0]?.taken === true
}

// SQLSTATEs for a lock timeout, and for a deadlock with running statements.
const lockStates = new Set(['55P03', '40P01'])

/** If a migration does not get a table lock in time, lets queued statements pass and retries. */
async function retryLockTimeouts<T>(client: Client, print: Print, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++)
    try {
      return await work()
    } catch (error) {
      const { code = '' } = error as { code?: string }
      if (!lockStates.has(code) || attempt >= maxAttempts) throw error
      // The failed migration left its transaction open.
      await client.query('rollback')
      print(`a table is locked; retrying (attempt ${attempt} of ${maxAttempts})`)
    }
}
