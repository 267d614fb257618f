// Filters for the list of tenants, from the parameters of the address.
import { isUuid } from '../../app/ids.ts'
import type { Filter } from '../../generated/documents.ts'

const slugPattern = /^[a-z0-9][a-z0-9-]{0,63}$/

/** Returns the filters to try first, and the filters to try if the first ones match nothing. */
export function createTextFilters(text: string): readonly [readonly Filter[], readonly Filter[] | null] {
  if (text === '') return [[], null]
  if (isUuid(text)) return [[{ field: 'id', value: text }], null]
  const bySlug = slugPattern.test(text) ? [{ field: 'slug', value: text }] : null
  return [[{ field: 'name', value: text }], bySlug]
}

export const createModeFilter = (mode: string | undefined): readonly Filter[] =>
  mode === 'shared' || mode === 'dedicated' ? [{ field: 'deploymentMode', value: mode }] : []
