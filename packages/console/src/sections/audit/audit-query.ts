// The conditions of the list, from the parameters of the address.
import type { AddressSearch } from '../../app/list-search.ts'
import { isUuid } from '../../app/ids.ts'
import type { AuditEntriesVariables } from '../../generated/documents.ts'
import { readTimeRange } from '../../app/time-range.ts'

export type AuditQuery = Required<
  Pick<AuditEntriesVariables, 'entityId' | 'userId' | 'from' | 'to' | 'text' | 'filters'>
>

/** Search parameters that remove all filters. */
export const noFilters = {
  q: undefined,
  person: undefined,
  entity: undefined,
  id: undefined,
  action: undefined,
  range: undefined,
  from: undefined,
  to: undefined,
} as const satisfies AddressSearch

export const isFiltered = (search: AddressSearch): boolean =>
  Object.keys(noFilters).some((key) => search[key] !== undefined)

const maxTextMs = 24 * 3_600_000

/**
 * Returns the arguments for the API. In time ranges of up to 24 hours, the API searches all texts of an entry; in
 * longer ranges, it searches only descriptions. An id selects the entries of that object.
 */
export function toAuditQuery(search: AddressSearch, now: number): AuditQuery {
  const { q = null, person, entity, id = null, action } = search
  const { from, to } = readTimeRange(search, now)
  const isShort = from !== null && to !== null && Date.parse(to) - Date.parse(from) <= maxTextMs
  const isId = q !== null && isUuid(q) && id === null
  const filters = [
    ...(entity === undefined ? [] : [{ field: 'entityType', value: entity }]),
    ...(action === undefined ? [] : [{ field: 'action', value: action }]),
    ...(q === null || isId || isShort ? [] : [{ field: 'description', value: q }]),
  ]
  return {
    entityId: isId ? q : id,
    userId: person !== undefined && isUuid(person) ? person : null,
    from,
    to,
    text: isShort && !isId ? q : null,
    filters,
  }
}
