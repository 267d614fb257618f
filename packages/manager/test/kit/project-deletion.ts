// Starts a service for tests of large and concurrent project deletions.
import { afterAll, beforeAll } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { type TestApp, startTestApp } from './app.ts'
import { seedUser } from '@manager/harness/seed.ts'

/** Starts a service with production limits for the tests of a file. */
export function useDeletions() {
  let service: TestApp
  let admin: Person
  beforeAll(async () => {
    service = await startTestApp({ limits: 'production' })
    admin = await seedUser(service.sql, 'admin', 'administrator')
  })
  afterAll(() => service.close())
  return {
    sql: () => service.sql,
    deleteProject: (id: string) =>
      service.query(admin, 'mutation ($id: ID!) { deleteProject(id: $id) }', { id }),
    /** Counts the blobs that packages refer to. */
    referred: async (): Promise<number> => {
      const { rows } = await service.sql.query<{ n: number }>(
        'select count(*)::int as n from blobs where unreferenced_since is null',
      )
      return rows[0]?.n ?? -1
    },
  }
}
