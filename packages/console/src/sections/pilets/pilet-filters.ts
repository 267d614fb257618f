// Filters of the list of versions, from the parameters of the address.
import type { AddressSearch } from '../../app/list-search.ts'
import type { Filter } from '../../generated/documents.ts'

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const referencePattern = /^(?<name>@?[^@]+)@(?<version>[^@]+)$/

export const isId = (text: string): boolean => uuidPattern.test(text)

/** Returns filters for a name or a part of it, an exact version such as `@shop/cart@1.2.0`, or an id. */
function createTextFilters(text: string): readonly Filter[] {
  if (text === '') return []
  if (isId(text)) return [{ field: 'id', value: text }]
  const { name, version } = referencePattern.exec(text)?.groups ?? {}
  if (name === undefined || version === undefined) return [{ field: 'name', value: text }]
  return [
    { field: 'name', value: name },
    { field: 'version', value: version },
  ]
}

type StatusFilter = 'enabled' | 'disabled'

export const readStatus = ({ status }: AddressSearch): StatusFilter | null =>
  status === 'enabled' || status === 'disabled' ? status : null

export function createFilters(search: AddressSearch): readonly Filter[] {
  const status = readStatus(search)
  return [
    ...createTextFilters((search['q'] ?? '').trim()),
    ...(status === null ? [] : [{ field: 'enabled', value: String(status === 'enabled') }]),
  ]
}
