// Backends list the tenants for which their application is enabled. The list can be very long, so it is read page by
// page, as fast as the client reads it. No database resource is held between two pages.
import type { Machine } from '../../policy/authenticate.ts'
import type { Database } from '../../platform/postgres/database.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import { parseUuid } from '../../platform/ids.ts'
import {
  type TenantName,
  isApplicationOf,
  readTenantsAfter,
  tenantsPerPage,
} from './application-tenants.store.ts'
import { applicationNotFound } from './registrations.service.ts'

export type ApplicationTenantsDeps = { db: Db; database: Pick<Database, 'run'> }
export type ApplicationTenantsService = ReturnType<typeof createApplicationTenantsService>

const lowestId = '00000000-0000-0000-0000-000000000000'

export function createApplicationTenantsService({ db, database }: ApplicationTenantsDeps) {
  const pageAfter = (applicationId: string, after: string): Promise<TenantName[]> =>
    readTenantsAfter(database.run, applicationId, after)
  return {
    /**
     * Returns pages of tenants, ordered by id. Only the first page can be empty. It is read before this function
     * returns, so that most errors occur before the response starts.
     */
    list: async (machine: Machine, text: string): Promise<AsyncIterable<readonly TenantName[]>> => {
      const id = parseUuid(text)
      if (id === null || !(await isApplicationOf(db.read, machine.projectId, id))) throw applicationNotFound()
      return pagesFrom(await pageAfter(id, lowestId), ({ id: last }) => pageAfter(id, last))
    },
  }
}

/** Yields this page and all later pages. `next` reads the page after a tenant. */
async function* pagesFrom(
  first: TenantName[],
  next: (last: TenantName) => Promise<TenantName[]>,
): AsyncGenerator<readonly TenantName[]> {
  yield first
  let last = first.length < tenantsPerPage ? undefined : first.at(-1)
  while (last !== undefined) {
    const page = await next(last)
    if (page.length > 0) yield page
    last = page.length < tenantsPerPage ? undefined : page.at(-1)
  }
}
