// Starts a service with a large audit trail, for tests that export it.
import { Pool } from 'pg'
import { afterAll, beforeAll } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { seedChains } from './audit-bulk.ts'
import { type TestDatabase, createScratchDatabase } from './databases.ts'
import { type ServiceProcess, startProcess } from '@manager/harness/process.ts'
import { seedUser } from '@manager/harness/seed.ts'

/**
 * Starts the service before the tests of a file. The fields of the returned object are set before the first
 * test.
 */
export function useLargeTrail(chains: number, rowsPerChain: number) {
  const scene = {} as {
    chainIds: string[]
    database: TestDatabase
    sql: Pool
    service: ServiceProcess
    admin: Person
  }
  beforeAll(async () => {
    scene.database = await createScratchDatabase()
    scene.sql = new Pool({ connectionString: scene.database.url, max: 4 })
    scene.chainIds = await seedChains(scene.sql, chains, rowsPerChain)
    await scene.sql.query('vacuum analyze audit_logs')
    scene.admin = await seedUser(scene.sql, 'admin', 'administrator')
    // Omit the role `jobs`, which would verify all of these rows.
    scene.service = await startProcess(scene.database.url, { SVC_ROLES: 'api' })
  }, 300_000)
  afterAll(async () => {
    scene.service.child.kill('SIGTERM')
    await scene.service.exit
    await scene.sql.end()
    await scene.database.drop()
  })
  return scene
}

/** Counts the snapshots that running exports keep open. */
export async function countOpenSnapshots(sql: Pool): Promise<number> {
  const { rows } = await sql.query<{ n: string }>(
    `select count(*) n from pg_stat_activity where datname = current_database() and backend_xmin is not null
       and pid <> pg_backend_pid() and xact_start is not null`,
  )
  return Number(rows[0]?.n)
}
