// Lists, for each migration, the objects that it adds or changes and the objects that it removes.
import { readFileSync } from 'node:fs'
import { Client } from 'pg'
import { describeSchema } from '../src/platform/postgres/schema-description.ts'
import { listKnownMigrations } from '../src/platform/postgres/migrate.ts'
import { createEmptyDatabase } from '../test/kit/databases.ts'

type Change = { set: Record<string, string>; removed: string[] }

/** Runs the migrations one by one and describes the database after each. */
export async function generateSchemaHistory(): Promise<string> {
  const database = await createEmptyDatabase()
  const client = new Client({ connectionString: database.url })
  await client.connect()
  const history: Record<string, Change> = {}
  try {
    let before: ReadonlyMap<string, string> = new Map()
    for (const name of listKnownMigrations()) {
      await client.query(readFileSync(new URL(`../migrations/${name}.sql`, import.meta.url), 'utf8'))
      await client.query('begin')
      const after = await describeSchema(client)
      await client.query('rollback')
      const change = compareSchemas(before, after)
      // The baseline command could not detect whether such a migration was applied.
      if (Object.keys(change.set).length + change.removed.length === 0)
        throw new Error(
          `${name} changes no object that src/platform/postgres/schema-description.ts describes`,
        )
      history[name] = change
      before = after
    }
  } finally {
    await client.end()
    await database.drop()
  }
  return `
export const schemaHistory: Readonly<
  Record<string, { set: Readonly<Record<string, string>>; removed: readonly string[] }>
> = ${JSON.stringify(history, null, 2)}
`
}

function compareSchemas(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): Change {
  const set = [...after].filter(([name, definition]) => before.get(name) !== definition)
  // Comparing code units gives the same order in every locale.
  return {
    set: Object.fromEntries(set.toSorted(([a], [b]) => (a < b ? -1 : 1))),
    removed: [...before.keys()].filter((name) => !after.has(name)).toSorted(),
  }
}
