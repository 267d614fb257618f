// Databases without a record of migrations, and what `migrate baseline` makes of them.
import { readFileSync } from 'node:fs'
import { Client } from 'pg'
import { migrateBaseline } from '../../src/platform/postgres/baseline.ts'
import { schemaStatus } from '../../src/platform/postgres/migrate.ts'
import { describeSchema } from '../../src/platform/postgres/schema-description.ts'
import type { TestDatabase } from './databases.ts'

/** Runs statements on a database. */
export async function on<T>(database: TestDatabase, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: database.url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
export const run = (database: TestDatabase, statements: string) =>
  on(database, (client) => client.query(statements))

/** Everything about the schema, with the record of migrations. */
export const stateOf = (database: TestDatabase) =>
  on(database, async (client) => {
    await client.query('begin')
    const described = [...(await describeSchema(client))].toSorted(([a], [b]) => (a < b ? -1 : 1))
    await client.query('rollback')
    const columns = await client.query(
      `select column_name, data_type, is_nullable, column_default from information_schema.columns
       where table_name = 'pgmigrations' order by 1`,
    )
    const { applied } = await schemaStatus(client)
    return { described, columns: columns.rows, applied }
  })

/** What the command says, and the error that ends it. */
export async function baseline(database: TestDatabase, wanted?: string, dryRun = false) {
  const lines: string[] = []
  const result = await migrateBaseline(database.url, (line) => lines.push(line), { wanted, dryRun }).then(
    (done) => ({ last: done.last, recorded: done.recorded, error: null }),
    ({ message }: Error) => ({ last: null, recorded: null, error: message }),
  )
  return { ...result, lines }
}

/** Runs one migration by itself, as if nothing recorded it. */
export const runMigration = (database: TestDatabase, name: string) =>
  run(database, readFileSync(new URL(`../../migrations/${name}.sql`, import.meta.url), 'utf8'))
