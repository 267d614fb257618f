// Starts the service with a planted fault: lookups use a cache that may be up to 50 ms old. The check for immediate
// revocation must find it.
import type { AddressInfo } from 'node:net'
import { createApp } from '../../src/app.ts'
import { settings } from '../../src/settings.ts'
import { loadConfig, createProcessSource } from '../../src/config/config.ts'
import type { Database } from '../../src/platform/postgres/database.ts'
import type { PreparedStatement } from '../../src/platform/postgres/prepared.ts'
import { createWorld } from '../../src/world.ts'

const maxAgeMs = 50

function cached(database: Database): Database {
  const answers = new Map<string, { at: number; rows: Promise<object[]> }>()
  const run = (statement: PreparedStatement, values: unknown[]): Promise<object[]> => {
    if (statement.kind !== 'read' || statement.size !== undefined) return database.run(statement, values)
    const key = JSON.stringify([statement.name, values])
    const known = answers.get(key)
    if (known !== undefined && performance.now() - known.at < maxAgeMs) return known.rows
    const rows = database.run(statement, values)
    answers.set(key, { at: performance.now(), rows })
    return rows
  }
  return { ...database, run: run as Database['run'] }
}

const config = loadConfig(createProcessSource(), settings)
const world = createWorld(config)
const app = await createApp(config, { ...world, database: cached(world.database) })
await app.server.listen({ host: '127.0.0.1', port: 0 })
const { port } = app.server.server.address() as AddressInfo
process.stdout.write(`${JSON.stringify({ msg: 'manager is ready', port, health_port: 0 })}\n`)
