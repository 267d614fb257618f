// Filters of the list of machine users, from the parameters of the address.
import type { AddressSearch } from '../../app/list-search.ts'
import type { Filter } from '../../generated/documents.ts'
import { tokenAges } from './token-age.ts'

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const tokenPattern = /^[A-Za-z0-9_-]{43}$/
const prefixLength = 8

/** Keeps only the public prefix of a pasted token, because the search text becomes part of the address. */
export const shortenToken = (text: string): string =>
  tokenPattern.test(text.trim()) ? text.trim().slice(0, prefixLength) : text

/** Returns the filters to try first, and the filters to try if the first ones match nothing. */
export function createTextFilters(text: string): readonly [readonly Filter[], readonly Filter[] | null] {
  if (text === '') return [[], null]
  if (uuidPattern.test(text)) return [[{ field: 'id', value: text }], null]
  // The user name of a Bearer machine user contains the prefix of its token.
  return [[{ field: 'name', value: text }], [{ field: 'username', value: text }]]
}

type Status = 'enabled' | 'disabled'
export type ListFilters = {
  /** Lists only credentials that are older than this number of days; null for all. */
  readonly olderThan: number | null
  readonly status: Status | null
}

export function readListFilters(search: AddressSearch): ListFilters {
  const olderThan = tokenAges.find((days) => String(days) === search['older']) ?? null
  const status = search['status'] === 'enabled' || search['status'] === 'disabled' ? search['status'] : null
  // The API lists old credentials of enabled machine users only.
  return { olderThan, status: olderThan === null ? status : 'enabled' }
}

export const createStatusFilter = ({ olderThan, status }: ListFilters): readonly Filter[] =>
  olderThan !== null || status === null ? [] : [{ field: 'enabled', value: String(status === 'enabled') }]
