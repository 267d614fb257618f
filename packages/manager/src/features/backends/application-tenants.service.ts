// The tenants an application is enabled for, for backends that do something for each of them. There may be very many, so
// they are read page by page, as fast as the caller takes them; between two pages nothing is held in the database.
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

/** Lists tenants of applications. */
export function createApplicationTenantsService({ db, database }: ApplicationTenantsDeps) {
  const pageAfter = (applicationId: string, after: string): Promise<TenantName[]> =>
    readTenantsAfter(database.run, applicationId, after)
  return {
    /**
     * The tenants by id, in pages, of which only the first may be empty. It is read before this returns, so that most
     * failures come before the response begins.
     */
    list: async (machine: Machine, text: string): Promise<AsyncIterable<readonly TenantName[]>> => {
      const id = parseUuid(text)
      if (id === null || !(await isApplicationOf(db.read, machine.projectId, id))) throw applicationNotFound()
      return pagesFrom(await pageAfter(id, lowestId), ({ id: last }) => pageAfter(id, last))
    },
  }
}

/** This page and those after it; `next` reads the page after a tenant. */
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
