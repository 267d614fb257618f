// Filters and sorts endpoints. The API lists the endpoints of one application at a time, so the page does it.
import type { AddressSearch } from '../../app/list-search.ts'
import type { Sort } from '../../kit/data-table.tsx'
import type { EndpointRow } from './endpoint-types.ts'

type EndpointFilters = {
  /** Part of the name, the path or the target URL, or a whole id. */
  readonly text: string
  readonly enabled: boolean | null
}

export function readEndpointFilters(search: AddressSearch): EndpointFilters {
  const status = search['status']
  return {
    text: (search['q'] ?? '').trim().toLowerCase(),
    enabled: status === 'enabled' ? true : status === 'disabled' ? false : null,
  }
}

export const isFiltered = ({ text, enabled }: EndpointFilters): boolean => text !== '' || enabled !== null

const matches = (row: EndpointRow, { text, enabled }: EndpointFilters): boolean =>
  (enabled === null || row.enabled === enabled) &&
  (text === '' ||
    row.id === text ||
    [row.name, row.consumeURL, row.url ?? ''].some((value) => value.toLowerCase().includes(text)))

/** The text that each column is sorted by. */
const sortKeys: ReadonlyMap<string, (row: EndpointRow) => string> = new Map([
  ['name', ({ name }) => name],
  ['application', ({ application }) => application.name],
  ['url', ({ url }) => url ?? ''],
  ['enabled', ({ enabled }) => (enabled ? '0' : '1')],
  ['logLevel', ({ logLevel }) => logLevel],
  ['updatedAt', ({ updatedAt }) => updatedAt],
])

export const defaultSort: Sort = { field: 'name', direction: 'ASC' }

/** Returns the matching rows in order. Rows with the same value are ordered by name, then by id. */
export function selectEndpoints(
  rows: readonly EndpointRow[],
  filters: EndpointFilters,
  { field, direction }: Sort,
): EndpointRow[] {
  const readKey = sortKeys.get(field) ?? (({ name }: EndpointRow) => name)
  const sign = direction === 'ASC' ? 1 : -1
  const { compare } = new Intl.Collator(undefined, { numeric: true })
  return rows
    .filter((row) => matches(row, filters))
    .toSorted(
      (a, b) => sign * compare(readKey(a), readKey(b)) || compare(a.name, b.name) || a.id.localeCompare(b.id),
    )
}
