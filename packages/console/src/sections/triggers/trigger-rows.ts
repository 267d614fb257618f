// Selects the rows of the list. The API lists triggers by application, so a list of the whole project is filtered and
// sorted here.
import type { AddressSearch } from '../../app/list-search.ts'
import type { Sort } from '../../kit/data-table.tsx'
import type { TriggerRow } from './trigger-types.ts'

export const defaultSort: Sort = { field: 'name', direction: 'ASC' }

type Status = 'enabled' | 'disabled'
export const readStatus = ({ status }: AddressSearch): Status | null =>
  status === 'enabled' || status === 'disabled' ? status : null

/** Returns whether the address limits the list. */
export const isFiltered = (search: AddressSearch): boolean =>
  search['q'] !== undefined || search['application'] !== undefined || readStatus(search) !== null

const comparisons: Readonly<Record<string, (a: TriggerRow, b: TriggerRow) => number>> = {
  name: (a, b) => a.name.localeCompare(b.name),
  enabled: (a, b) => Number(b.enabled) - Number(a.enabled),
  updatedAt: (a, b) => Date.parse(a.updatedAt) - Date.parse(b.updatedAt),
}

/** Returns the rows that match the address, sorted. Rows that are equal are sorted by name. */
export function selectTriggers(
  rows: readonly TriggerRow[],
  search: AddressSearch,
  sort: Sort | null,
): readonly TriggerRow[] {
  const text = (search['q'] ?? '').toLowerCase()
  const status = readStatus(search)
  const { field, direction } = sort ?? defaultSort
  const compare = comparisons[field] ?? comparisons['name']
  const sign = direction === 'DESC' ? -1 : 1
  return rows
    .filter(
      ({ id, name, runKey, enabled }) =>
        (status === null || enabled === (status === 'enabled')) &&
        (name.toLowerCase().includes(text) || runKey.toLowerCase().includes(text) || id === text),
    )
    .toSorted(
      (a, b) => sign * (compare?.(a, b) ?? 0) || a.name.localeCompare(b.name) || (a.id < b.id ? -1 : 1),
    )
}
