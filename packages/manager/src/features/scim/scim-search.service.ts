// Reads people for an identity provider, and searches for resources: a page of all, or of those that a filter matches.
import { type AppError, orNotFound } from '../../platform/errors.ts'
import { parseUuid } from '../../platform/ids.ts'
import type { Db, Reads } from '../../platform/postgres/handles.ts'
import { scimBadRequest } from './scim-errors.pure.ts'
import { type Filter, parseFilter } from './scim-filter.pure.ts'
import { type Condition, type FilterResource, compileFilter, isIndexed } from './scim-filter.store.ts'
import { type FoundRows, limitStatementTime } from './scim-pages.store.ts'
import { type ListPage, type ScimResource, readPage } from './scim-resource.pure.ts'
import { createUserFields } from './scim-user-filter.store.ts'
import type { ScimMetrics } from './scim.metrics.ts'
import * as store from './scim-users.store.ts'

export type ScimSearchDeps = { db: Db; metrics: ScimMetrics; baseUrl: string }
export type ScimSearchService = ReturnType<typeof createScimSearchService>
export type ScimQuery = { filter?: string; startIndex?: string; count?: string }

const [maxRows, timeoutMs] = [10_000, 2_000]
const timedOutState = '57014'

/** Resources that can be listed and filtered. */
type Searched<Row> = FilterResource & {
  list: (db: Reads, page: ListPage) => Promise<FoundRows<Row>>
  search: (
    db: Reads,
    condition: Condition,
    range: { page: ListPage; maxRows: number },
  ) => Promise<FoundRows<Row>>
  /** The resources in messages, and the attributes whose equality uses an index. */
  noun: string
  hint: string
}

/** Returns a function that answers the list requests for one kind of resource. */
export function createSearch<Row>(
  { db, metrics }: Pick<ScimSearchDeps, 'db' | 'metrics'>,
  searched: Searched<Row>,
): (query: ScimQuery) => Promise<FoundRows<Row> & ListPage> {
  const search = (reads: Reads, filter: Filter, page: ListPage): Promise<FoundRows<Row>> =>
    searched.search(reads, compileFilter(filter, searched), { page, maxRows })
  /** A filter that no index serves reads many rows, so its time is limited. */
  const searchWithin = async (filter: Filter, page: ListPage): Promise<FoundRows<Row>> => {
    try {
      return await db.transaction(
        async (tx) => {
          await limitStatementTime(tx, timeoutMs)
          return search(tx, filter, page)
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
      `the filter matches more than ${maxRows} ${searched.noun} or takes too long; filter by ${searched.hint} with eq`,
    )
  }
  return async ({ filter = '', startIndex, count }) => {
    const page = readPage(startIndex, count)
    if (filter.trim() === '') return { ...page, ...(await searched.list(db.read, page)) }
    const parsedFilter = parseFilter(filter)
    const found = isIndexed(parsedFilter, searched)
      ? await search(db.read, parsedFilter, page)
      : await searchWithin(parsedFilter, page)
    if (found.total > maxRows) throw refuse('rows')
    return { ...page, ...found }
  }
}

export const createScimSearchService = (deps: ScimSearchDeps) => ({
  get: async (id: string): Promise<ScimResource> => {
    const userId = parseUuid(id)
    return orNotFound(userId === null ? null : await store.findUser(deps.db.read, userId), 'user')
  },
  list: createSearch<ScimResource>(deps, {
    ...createUserFields(deps.baseUrl),
    list: store.listUsers,
    search: store.searchUsers,
    noun: 'users',
    hint: 'userName, externalId or emails.value',
  }),
})
