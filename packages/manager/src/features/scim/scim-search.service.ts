// Reads people for an identity provider: one, or a page of all or of those that a filter matches.
import { type AppError, orNotFound } from '../../platform/errors.ts'
import { parseUuid } from '../../platform/ids.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import { scimBadRequest } from './scim-errors.pure.ts'
import { type Filter, parseFilter } from './scim-filter.pure.ts'
import { createFilterSql, isIndexed } from './scim-filter.store.ts'
import { type ListPage, type ScimResource, readPage } from './scim-resource.pure.ts'
import type { ScimMetrics } from './scim.metrics.ts'
import * as store from './scim-users.store.ts'

export type ScimSearchDeps = { db: Db; metrics: ScimMetrics; baseUrl: string }
export type ScimSearchService = ReturnType<typeof createScimSearchService>
type Query = { filter?: string; startIndex?: string; count?: string }

const [maxRows, timeoutMs] = [10_000, 2_000]
const timedOutState = '57014'

export function createScimSearchService({ db, metrics, baseUrl }: ScimSearchDeps) {
  /** A filter that no index serves reads many rows, so its time is limited. */
  const searchWithin = async (filter: Filter, page: ListPage): Promise<store.FoundUsers> => {
    try {
      return await db.transaction(
        async (tx) => {
          await store.limitStatementTime(tx, timeoutMs)
          return store.searchUsers(tx, createFilterSql(filter, baseUrl), { page, maxRows })
        },
        { isSnapshot: true },
      )
    } catch (error) {
      if ((error as { code?: unknown }).code !== timedOutState) throw error
      throw refuse('timeout')
    }
  }
  const refuse = (reason: 'rows' | 'timeout'): AppError => {
    metrics.refused.inc({ reason })
    return scimBadRequest(
      'tooMany',
      `the filter matches more than ${maxRows} users or takes too long; filter by userName, externalId or emails.value with eq`,
    )
  }
  return {
    get: async (id: string): Promise<ScimResource> => {
      const userId = parseUuid(id)
      return orNotFound(userId === null ? null : await store.findUser(db.read, userId), 'user')
    },

    list: async ({ filter = '', startIndex, count }: Query): Promise<store.FoundUsers & ListPage> => {
      const page = readPage(startIndex, count)
      if (filter.trim() === '') return { ...page, ...(await store.listUsers(db.read, page)) }
      const parsedFilter = parseFilter(filter)
      const found = isIndexed(parsedFilter)
        ? await store.searchUsers(db.read, createFilterSql(parsedFilter, baseUrl), { page, maxRows })
        : await searchWithin(parsedFilter, page)
      if (found.total > maxRows) throw refuse('rows')
      return { ...page, ...found }
    },
  }
}
