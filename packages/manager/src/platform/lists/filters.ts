// Validates the arguments of list queries: filter fields, order fields and page sizes.
import { badRequest } from '../errors.ts'
import { parseUuid } from '../ids.ts'
import { checkEach, checkFields } from '../inputs/fields.ts'
import { parseTimestamp } from '../inputs/timestamps.ts'

/**
 * The filters id, exact, number, boolean and time match the whole value; text matches a case-insensitive substring.
 */
type FieldMatch = 'id' | 'exact' | 'number' | 'boolean' | 'text' | 'time'

/** The fields of one type that callers may filter and order by. Secrets are never listed: filters could probe them. */
export type ListFields = Record<string, ListField>
type ListField = {
  column: string
  match: FieldMatch
  /** The column to order by, if it differs from `column`. */
  orderColumn?: string
  /** Whether the column to order by can be null. */
  isNullable?: true
  /** The related row that contains the column, if it is not the listed row itself. */
  via?: RelatedRow
}

/** How a connection reads its list; callers cannot set these options. */
type ListReading = {
  /** Reads one additional row to find out whether another page follows. */
  hasNextRow?: boolean
  /** Reads the cursor of every row, and one additional row. */
  hasCursors?: boolean
  /** Reads the number of rows on all pages. */
  hasTotal?: boolean
  /** Cursor of the row before the first row of the page. */
  after?: string | null
}
/** A row of another table, whose id is in the foreign key of the listed row. */
type RelatedRow = { table: string; foreignKey: string }
/** A column of the listed row, or of the row that it refers to. */
export type PageColumn = { column: string; via?: RelatedRow | undefined }

/** Arguments of a list query before validation. */
export type ListArgs = {
  filters?: readonly { field: string; value: string }[] | null
  order?: readonly { field: string; direction?: 'ASC' | 'DESC' | null }[] | null
  pagination?: { limit: number; offset: number } | null
  reading?: ListReading
}

/** Validated arguments of a list query, with columns instead of field names. */
export type Page = {
  filters: (PageColumn & { match: FieldMatch; value: string })[]
  order: PageOrder[]
  limit: number
  offset: number
  reading: ListReading
}
export type PageOrder = PageColumn & { direction: 'asc' | 'desc'; isNullable?: true }

const pageSizes: readonly number[] = [1, 10, 20, 25, 50, 100]
/** Page size of a list without `pagination`. */
export const defaultLimit = 100
const maxOffset = 100_000
const maxFilters = 20
const maxOrders = 5
const maxValueLength = 500

/** Validates the arguments of a list query against the fields of its type; error messages name the allowed values. */
export function readPage(fields: ListFields, args: ListArgs): Page {
  const reading = args.reading ?? {}
  const { pagination, filters, order } = checkFields({
    pagination: () => readPagination(args.pagination ?? { limit: defaultLimit, offset: 0 }),
    after: () => {
      if (typeof reading.after === 'string' && (args.pagination?.offset ?? 0) > 0)
        throw badRequest('pass either after or a pagination offset, not both')
    },
    filters: () => readFilters(fields, args.filters ?? []),
    order: () => readOrder(fields, args.order ?? []),
  })
  const { limit, offset } = pagination
  const hasNextRow = reading.hasCursors === true || reading.hasNextRow === true
  return { filters, order, limit: hasNextRow ? limit + 1 : limit, offset, reading }
}

const readPagination = ({ limit, offset }: { limit: number; offset: number }) =>
  checkFields({
    limit: () => checkPageSize(limit),
    offset: () => {
      if (offset < 0 || offset > maxOffset)
        throw badRequest(
          `pagination offset must be from 0 to ${maxOffset}; narrow the list with filters instead`,
        )
      return offset
    },
  })

function readFilters(fields: ListFields, filters: NonNullable<ListArgs['filters']>): Page['filters'] {
  if (filters.length > maxFilters) throw badRequest(`at most ${maxFilters} filters are allowed`)
  return checkEach(filters, ({ field, value }) => {
    const { column, match, via } = findField(fields, field, 'filter')
    return { column, match, via, ...checkFields({ value: () => readValue(field, match, value) }) }
  })
}

function readOrder(fields: ListFields, order: NonNullable<ListArgs['order']>): Page['order'] {
  if (order.length > maxOrders) throw badRequest(`at most ${maxOrders} order entries are allowed`)
  return checkEach(order, ({ field, direction }) => {
    const { column, orderColumn: orderedBy = column, isNullable, via } = findField(fields, field, 'order')
    return {
      column: orderedBy,
      via,
      direction: direction === 'DESC' ? ('desc' as const) : ('asc' as const),
      ...(isNullable && { isNullable }),
    }
  })
}

/** Returns the page size if lists allow it; throws 400 otherwise. */
export function checkPageSize(limit: number): number {
  if (!pageSizes.includes(limit)) throw badRequest(`pagination limit must be one of ${pageSizes.join(', ')}`)
  return limit
}

function findField(fields: ListFields, field: string, use: 'filter' | 'order') {
  const listField = Object.hasOwn(fields, field) ? fields[field] : undefined
  if (listField === undefined)
    throw badRequest(
      `unknown ${use} field "${field.slice(0, 100)}"; allowed: ${Object.keys(fields).join(', ')}`,
      'field',
    )
  return listField
}

function readValue(field: string, match: FieldMatch, value: string): string {
  if (value.length > maxValueLength)
    throw badRequest(`filter ${field} is longer than ${maxValueLength} characters`)
  // PostgreSQL cannot store U+0000 and would reject the statement.
  if (value.includes('\0')) throw badRequest(`filter ${field} contains U+0000`)
  if (match === 'id') {
    const id = parseUuid(value)
    if (id === null) throw badRequest(`filter ${field} must be a UUID`)
    return id
  }
  if (match === 'boolean' && value !== 'true' && value !== 'false')
    throw badRequest(`filter ${field} must be true or false`)
  if (match === 'number' && !/^-?\d{1,9}$/.test(value))
    throw badRequest(`filter ${field} must be a whole number`)
  if (match === 'time') {
    const instant = parseTimestamp(value)
    if (instant === null)
      throw badRequest(`filter ${field} must be an RFC 3339 timestamp such as 2026-01-31T12:00:00Z`)
    return instant.toISOString()
  }
  return value
}

/** Returns the ILIKE pattern that matches strings that contain `text` literally. */
export const createContainsPattern = (text: string): string => `%${createStartPattern(text)}`

/** Returns the LIKE pattern that matches strings that start with `text` literally. */
export const createStartPattern = (text: string): string => `${text.replace(/[\\%_]/g, '\\$&')}%`
