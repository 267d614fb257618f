// Creates databases without a migration record, and runs `migrate baseline` on them.
import { readFileSync } from 'node:fs'
import { Client } from 'pg'
import { migrateBaseline } from '../../src/platform/postgres/baseline.ts'
import { readSchemaStatus } from '../../src/platform/postgres/migrate.ts'
import { describeSchema } from '../../src/platform/postgres/schema-description.ts'
import type { TestDatabase } from './databases.ts'

export async function withClient<T>(
  database: TestDatabase,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new Client({ connectionString: database.url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
export const runStatements = (database: TestDatabase, statements: string) =>
  withClient(database, (client) => client.query(statements))

/** Returns the complete schema description and the migration record. */
export const schemaStateOf = (database: TestDatabase) =>
  withClient(database, async (client) => {
    await client.query('begin')
    const described = [...(await describeSchema(client))].toSorted(([a], [b]) => (a < b ? -1 : 1))
    await client.query('rollback')
    const columns = await client.query(
      `select column_name, data_type, is_nullable, column_default from information_schema.columns
       where table_name = 'pgmigrations' order by 1`,
    )
    const { applied } = await readSchemaStatus(client)
    return { described, columns: columns.rows, applied }
  })

/** Returns the output of the command and, if it fails, the error message. */
export async function baseline(database: TestDatabase, wanted?: string, dryRun = false) {
  const lines: string[] = []
  const result = await migrateBaseline(database.url, (line) => lines.push(line), {
    requestedName: wanted,
    dryRun,
  }).then(
    (done) => ({ last: done.last, recorded: done.recorded, error: null }),
    ({ message }: Error) => ({ last: null, recorded: null, error: message }),
  )
  return { ...result, lines }
}

/** Runs a single migration without recording it. */
export const runMigration = (database: TestDatabase, name: string) =>
  runStatements(database, readFileSync(new URL(`../../migrations/${name}.sql`, import.meta.url), 'utf8'))
