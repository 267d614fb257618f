// Creates test databases. There is one template per set of migrations, which is cloned for each test file.
import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { Client } from 'pg'
import { migrateUp } from '../../src/platform/postgres/migrate.ts'
import { adminUrl } from '@manager/harness/run-engines.ts'

const migrations = new URL('../../migrations/', import.meta.url).pathname

export async function asAdmin<T>(work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: adminUrl() })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

const urlOf = (name: string): string => {
  const url = new URL(adminUrl())
  url.pathname = `/${name}`
  return url.href
}

/** Returns the name prefix of all databases of a run. database-reaper.ts finds the databases by this prefix. */
export const prefixOf = (run: string): string => `svc_test_${run}_`

let counter = 0
const { env } = process
const freshName = (): string => `${prefixOf(env['TEST_RUN'] ?? 'none')}${process.pid}_${counter++}`

let template: Promise<string> | undefined
/** Returns the template for the current migrations. The first process that needs it creates it. */
export function prepareTemplate(): Promise<string> {
  template ??= createTemplate()
  return template
}

async function createTemplate(): Promise<string> {
  const hash = createHash('sha256')
  for (const file of globSync('*.sql', { cwd: migrations }).toSorted())
    hash.update(file).update(readFileSync(migrations + file))
  const name = `svc_template_${hash.digest('hex').slice(0, 12)}`
  await asAdmin(async (client) => {
    await client.query('select pg_advisory_lock(7202611153)')
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [name])
    if (rowCount === 0) {
      const building = freshName()
      await client.query(`create database ${building}`)
      await migrateUp(urlOf(building), () => undefined)
      await receiveHeartbeats(urlOf(building))
      await client.query(`alter database ${building} rename to ${name}`)
    }
  })
  return name
}

/**
 * Records that heartbeats are being received. Few tests run the schedule that does this, and without the record no
 * backend counts as silent.
 */
async function receiveHeartbeats(url: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query("update heartbeat_reception set received_until = 'infinity'")
  await client.end()
}

export type TestDatabase = { url: string; name: string; drop(): Promise<void> }

/** Creates a migrated database. */
export async function createScratchDatabase(): Promise<TestDatabase> {
  const template = await prepareTemplate()
  const name = freshName()
  await asAdmin((client) => client.query(`create database ${name} template ${template}`))
  return { name, url: urlOf(name), drop: () => dropDatabase(name) }
}

/** Copies a database that has no open connections. */
export async function copyDatabase(original: TestDatabase): Promise<TestDatabase> {
  const name = freshName()
  await asAdmin((client) => client.query(`create database ${name} template ${original.name}`))
  return { name, url: urlOf(name), drop: () => dropDatabase(name) }
}

/** Creates an empty database, for tests of the migrations themselves. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  const name = freshName()
  await asAdmin((client) => client.query(`create database ${name}`))
  return { name, url: urlOf(name), drop: () => dropDatabase(name) }
}

async function dropDatabase(name: string): Promise<void> {
  // Connections take a moment to close. Terminating them by force would raise errors in the code that closes them.
  for (let tries = 0; tries < 40; tries++) {
    const isGone = await asAdmin((client) => client.query(`drop database if exists ${name}`)).then(
      () => true,
      () => false,
    )
    if (isGone) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  await asAdmin((client) => client.query(`drop database if exists ${name} with (force)`))
}
