// Removes the databases of a test run after its end, even if the run is killed: `database-reaper.ts <run>`. Its
// standard input closes when the run ends.
import { asAdmin, prefixOf } from './databases.ts'

const [run] = process.argv.slice(2)
if (run === undefined || !/^[0-9a-f]{12}$/.test(run)) throw new Error('usage: database-reaper.ts <run>')

for await (const _ of process.stdin);
// Workers that are about to exit, and processes started by their tests, may still create or use databases.
for (let tries = 0, found = 1; tries < 20 && found > 0; tries++) {
  found = await dropAll(prefixOf(run))
  if (found > 0) await new Promise((resolve) => setTimeout(resolve, 500))
}

function dropAll(prefix: string): Promise<number> {
  return asAdmin(async (client) => {
    const { rows } = await client.query<{ name: string }>(
      'select datname as name from pg_database where starts_with(datname, $1)',
      [prefix],
    )
    for (const { name } of rows)
      await client.query(`drop database if exists ${name} with (force)`).catch(() => undefined)
    return rows.length
  })
}
