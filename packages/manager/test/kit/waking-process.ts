// Starts the service in its own process, with an orchestrator that stores its workloads in the database. Other
// processes change the same workloads without locking them. Run it as `node waking-process.ts`, or with startProcess
// from a test.
import type { AddressInfo } from 'node:net'
import { Pool } from 'pg'
import { createApp } from '../../src/app.ts'
import { loadConfig, createProcessSource } from '../../src/config/config.ts'
import type { Orchestrator } from '../../src/platform/orchestrator/orchestrator.ts'
import { settings } from '../../src/settings.ts'
import { createWorld } from '../../src/world.ts'

/** Creates the table of workloads. `hangs` makes the next wake hang. */
export const workloadsTable = `
  create table test_workloads (
    name text primary key, replicas integer not null default 0, calls integer not null default 0,
    changes integer not null default 0, hangs boolean not null default false
  )`

export const wakingProgram = import.meta.filename

async function run(): Promise<void> {
  const config = loadConfig(createProcessSource(), settings)
  const sql = new Pool({ connectionString: config.databaseUrl, max: 2 })
  const orchestrator: Orchestrator = {
    kind: 'kubernetes',
    wake: async ({ namespace, name }) => {
      const key = `${namespace}/${name}`
      const { rows } = await sql.query<{ replicas: number; hangs: boolean }>(
        `with before as (select hangs from test_workloads where name = $1)
         update test_workloads w set calls = calls + 1, hangs = false from before where name = $1
         returning w.replicas, before.hangs`,
        [key],
      )
      const [{ replicas, hangs }] = rows as [{ replicas: number; hangs: boolean }]
      // Simulates the latency of an API server. Concurrent readers still see the old number.
      await new Promise((resolve) => setTimeout(resolve, hangs ? 600_000 : 300))
      if (replicas === 0)
        await sql.query('update test_workloads set replicas = 1, changes = changes + 1 where name = $1', [
          key,
        ])
      return { minReplicas: Math.max(1, replicas), alreadyAwake: replicas > 0 }
    },
    close: () => sql.end(),
  }
  const world = createWorld(config, { orchestrator })
  await world.database.clock.sync()
  const app = await createApp(config, world)
  await app.server.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.server.address() as AddressInfo
  world.log.info({ port, health_port: 0 }, 'manager is ready')
}

if (import.meta.main) await run()
