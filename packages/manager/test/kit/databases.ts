// Databases for tests: one template per state of the migrations, cloned in a moment for each test file.
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

/** Databases of a run begin with this, so that what removes them (database-reaper.ts) finds them and no others. */
export const prefixOf = (run: string): string => `svc_test_${run}_`

let counter = 0
const { env } = process
const freshName = (): string => `${prefixOf(env['TEST_RUN'] ?? 'none')}${process.pid}_${counter++}`

let template: Promise<string> | undefined
/** The template for the current migrations; the first process that asks creates it. */
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
 * Heartbeats count as received in every test that does not say otherwise: few of them run the schedule that notes it, and
 * without its notes no backend would ever be called silent.
 */
async function receiveHeartbeats(url: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query("update heartbeat_reception set received_until = 'infinity'")
  await client.end()
}

export type TestDatabase = { url: string; name: string; drop(): Promise<void> }

/** A migrated database of one's own. */
export async function createScratchDatabase(): Promise<TestDatabase> {
  const template = await prepareTemplate()
  const name = freshName()
  await asAdmin((client) => client.query(`create database ${name} template ${template}`))
  return { name, url: urlOf(name), drop: () => dropDatabase(name) }
}

/** A copy of a database that nobody uses at the moment. */
export async function copyDatabase(original: TestDatabase): Promise<TestDatabase> {
  const name = freshName()
  await asAdmin((client) => client.query(`create database ${name} template ${original.name}`))
  return { name, url: urlOf(name), drop: () => dropDatabase(name) }
}

/** An empty database of one's own, for tests of the migrations themselves. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  const name = freshName()
  await asAdmin((client) => client.query(`create database ${name}`))
  return { name, url: urlOf(name), drop: () => dropDatabase(name) }
}

async function dropDatabase(name: string): Promise<void> {
  // Connections that are closing need a moment; ending them by force would fail in whoever closes them.
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
