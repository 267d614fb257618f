// Versioned, forward-only SQL migrations. They are run by a command, never at boot; a start only checks that the
// schema fits.
import { readdirSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { runner } from 'node-pg-migrate'
import { Client, type ClientBase, type Pool } from 'pg'
import { explainingFailures } from './operator-errors.ts'
import { buildIndexes } from './built-indexes.ts'
import { buildPartitionIndexes } from './partition-indexes.ts'
import { assertServiceRole, grantPrivileges } from './privileges.ts'

const dir = new URL('../../../migrations/', import.meta.url).pathname
const migrationsTable = 'pgmigrations'
// An arbitrary number, the same for every migrator: the second one waits until the first is done.
const lockKey = 7_202_611_152
const lockEveryMs = 200
const lockTimeoutMs = 2_000
const maxTries = 15

export type SchemaStatus = {
  applied: string[]
  pending: string[]
  unknown: string[]
  verdict: 'fits' | 'too old' | 'too new'
}
export type Say = (line: string) => void

/** The migrations this release knows, in order. */
export function knownMigrations(): string[] {
  return readdirSync(dir)
    .filter((file) => file.endsWith('.sql'))
    .map((file) => file.slice(0, -4))
    .toSorted()
}

/** Compares what the database has with what this release knows. */
export async function schemaStatus(client: ClientBase | Pool): Promise<SchemaStatus> {
  const applied = await appliedMigrations(client)
  const known = knownMigrations()
  const pending = known.filter((name) => !applied.includes(name))
  const unknown = applied.filter((name) => !known.includes(name))
  if (pending.length > 0) return { applied, pending, unknown, verdict: 'too old' }
  const { rows } = await client.query<{ oldest: string }>(
    'select oldest_migration as oldest from schema_compatibility',
  )
  const oldest = rows[0]?.oldest ?? ''
  return { applied, pending, unknown, verdict: known.includes(oldest) ? 'fits' : 'too new' }
}

export async function appliedMigrations(client: ClientBase | Pool): Promise<string[]> {
  const { rows: tables } = await client.query<{ found: string | null }>('select to_regclass($1) as found', [
    migrationsTable,
  ])
  if (tables[0]?.found === null || tables[0] === undefined) return []
  const { rows } = await client.query<{ name: string }>(`select name from ${migrationsTable} order by id`)
  return rows.map((row) => row.name)
}

/** Throws, saying what to do, unless the schema is one this release can run on. */
export async function assertSchemaFits(client: ClientBase | Pool): Promise<void> {
  const { verdict, pending, unknown } = await schemaStatus(client)
  if (verdict === 'too old')
    throw new Error(
      `the database schema is too old: ${pending.join(', ')} not applied; run \`npm run manager -- migrate up\` first`,
    )
  if (verdict === 'too new')
    throw new Error(
      `the database schema is too new for this release: it needs to know ${unknown.join(', ')}; deploy a newer release`,
    )
}

/** Applies what is pending; returns the names of the migrations it applied. */
export function migrateUp(url: string, say: Say, serviceRole?: string): Promise<string[]> {
  return underLock(url, say, async (client) => {
    // Before anything is applied: a typing error must not leave half of the command done.
    if (serviceRole !== undefined) await assertServiceRole(client, serviceRole)
    const done = await retryLockTimeouts(client, say, () =>
      runner({
        dbClient: client,
        dir,
        migrationsTable,
        direction: 'up',
        noLock: true,
        checkOrder: true,
        log: () => undefined,
      }),
    )
    if (serviceRole !== undefined) await grantPrivileges(client, serviceRole)
    await buildIndexes(client, say)
    await buildPartitionIndexes(client, say, (attach) => retryLockTimeouts(client, say, attach))
    return done.map((migration) => migration.name)
  })
}

/** Records the first `count` migrations as applied, without running them. */
export async function recordMigrations(client: Client, count: number): Promise<void> {
  await runner({
    dbClient: client,
    dir,
    migrationsTable,
    direction: 'up',
    noLock: true,
    fake: true,
    count,
    log: () => undefined,
  })
}

/** Runs the work on a connection of its own. */
export function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  return explainingFailures(url, async () => {
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

/** Runs the work while no other migrator does. */
export function underLock<T>(url: string, say: Say, work: (client: Client) => Promise<T>): Promise<T> {
  // Ending the session releases the lock.
  return withClient(url, async (client) => {
    await assertMayMigrate(client)
    if (!(await takeLock(client))) {
      say('another migrator is at work; waiting for it')
      // Not in one statement: the other one may build an index, which waits for all statements that began before.
      do await wait(lockEveryMs)
      while (!(await takeLock(client)))
    }
    await client.query(`set lock_timeout = ${lockTimeoutMs}`)
    return work(client)
  })
}

/** Asked first: the runner would report a missing privilege as a stack. */
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

async function takeLock(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [
    lockKey,
  ])
  return rows[0]?.taken === true
}

/** A migration that cannot get a table lock lets the traffic pass and tries again. */
async function retryLockTimeouts<T>(client: Client, say: Say, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++)
    try {
      return await work()
    } catch (error) {
      if ((error as { code?: string }).code !== '55P03' || attempt >= maxTries) throw error
      // The failed migration left its transaction open.
      await client.query('rollback')
      say(`a table is busy; trying again (${attempt} of ${maxTries})`)
    }
}
