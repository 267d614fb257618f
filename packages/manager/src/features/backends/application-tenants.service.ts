// Lists the tenants for which an application is enabled. The list can be very long, so it is read page by
// page, only as fast as the client consumes it. No database resource is held between pages.
import type { Machine } from '../../policy/authenticate.ts'
import type { Database } from '../../platform/postgres/database.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import { parseUuid } from '../../platform/ids.ts'
import {
  type TenantName,
  projectHasApplication,
  readTenantsAfter,
  tenantsPerPage,
} from './application-tenants.store.ts'
import { createApplicationNotFoundError } from './registrations.service.ts'

export type ApplicationTenantsDeps = { db: Db; database: Pick<Database, 'run'> }
export type ApplicationTenantsService = ReturnType<typeof createApplicationTenantsService>

const lowestId = '00000000-0000-0000-0000-000000000000'

export function createApplicationTenantsService({ db, database }: ApplicationTenantsDeps) {
  const readPageAfter = (applicationId: string, after: string): Promise<TenantName[]> =>
    readTenantsAfter(database.run, applicationId, after)
  return {
    /**
     * Returns pages of tenants, ordered by id. Only the first page can be empty. It is read before the
     * function returns, so that most errors occur before the response starts.
     */
    list: async (machine: Machine, text: string): Promise<AsyncIterable<readonly TenantName[]>> => {
      const id = parseUuid(text)
      if (id === null || !(await projectHasApplication(db.read, machine.projectId, id)))
        throw createApplicationNotFoundError()
      return generatePages(await readPageAfter(id, lowestId), ({ id: lastId }) => readPageAfter(id, lastId))
    },
  }
}

/** Yields this page and all later pages. `readNext` reads the page after a tenant. */
async function* generatePages(
  first: TenantName[],
  readNext: (lastTenant: TenantName) => Promise<TenantName[]>,
): AsyncGenerator<readonly TenantName[]> {
  yield first
  let lastTenant = first.length < tenantsPerPage ? undefined : first.at(-1)
  while (lastTenant !== undefined) {
    const page = await readNext(lastTenant)
    if (page.length > 0) yield page
    lastTenant = page.length < tenantsPerPage ? undefined : page.at(-1)
  }
}
