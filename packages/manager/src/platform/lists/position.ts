// The order of a list as SQL: its columns, the cursor of each row, and the condition for the rows that follow a cursor.
import { type RawBuilder, sql } from 'kysely'
import { decodeListCursor } from './cursor.ts'
import type { Page, PageColumn, PageOrder } from './filters.ts'

// Column names come from the field lists of the feature, never from the caller.
export type QualifyColumn = (column: string) => RawBuilder<unknown>

/** Returns a function that qualifies column names with a table name or alias. */
export const createColumnQualifier =
  (table: string): QualifyColumn =>
  (column) =>
    sql.ref(`${table}.${column}`)

/**
 * Returns the value of a column. A column of another row is looked up by id, so that the cost depends on the size of
 * the list, not on that of the other table.
 */
export const createColumnSql = ({ column, via }: PageColumn, ref: QualifyColumn): RawBuilder<unknown> =>
  via === undefined
    ? ref(column)
    : sql`(select ${sql.ref(`via.${column}`)} from ${sql.table(via.table)} as via where via.id = ${ref(via.foreignKey)})`

/** Returns the columns that determine the position of a row. The order of every list ends with the id. */
export const listColumns = ({ order }: Page): PageOrder[] => [...order, { column: 'id', direction: 'asc' }]

/** Names an order, so that a cursor is only valid in a list with the same order. */
export const nameOrder = (columns: readonly PageOrder[]): string =>
  columns.map(({ column, direction }) => `${column} ${direction}`).join(', ')

/** Returns the position of a row as a JSON array: the name of the order, then the value of each of its columns. */
export function createCursorSql(page: Page, ref: QualifyColumn): RawBuilder<string> {
  const columns = listColumns(page)
  const values = columns.map((column) => sql`${createColumnSql(column, ref)}::text`)
  return sql<string>`json_build_array(${nameOrder(columns)}::text, ${sql.join(values)})::text`
}

type Position = PageOrder & { value: string | null }

/** Returns the condition for the rows that follow the cursor of a page, preceded by `and`; nothing without a cursor. */
export function createAfterSql(page: Page, ref: QualifyColumn): RawBuilder<unknown> {
  const { after } = page.reading
  if (typeof after !== 'string') return sql``
  const columns = listColumns(page)
  const values = decodeListCursor(after, nameOrder(columns))
  const positions = columns.map((column, index): Position => ({ ...column, value: values[index] ?? null }))
  const isPlain = positions.every(({ direction, isNullable }) => direction === 'asc' && isNullable !== true)
  if (isPlain)
    return sql`and (${sql.join(positions.map((position) => createColumnSql(position, ref)))}) > (${sql.join(positions.map(({ value }) => value))})`
  const alternatives = positions.map((position, index) => {
    const ties = positions.slice(0, index).map((tie) => createEqualCondition(tie, ref))
    return sql`(${sql.join([...ties, createBehindCondition(position, ref)], sql` and `)})`
  })
  return sql`${createRangeCondition(positions[0], ref)} and (${sql.join(alternatives, sql` or `)})`
}

function createEqualCondition({ value, ...column }: Position, ref: QualifyColumn): RawBuilder<unknown> {
  const current = createColumnSql(column, ref)
  return value === null ? sql`${current} is null` : sql`${current} = ${value}`
}

/** Null is the last value of an ascending order and the first of a descending one. */
function createBehindCondition({ value, ...order }: Position, ref: QualifyColumn): RawBuilder<unknown> {
  const current = createColumnSql(order, ref)
  if (order.direction === 'desc')
    return value === null ? sql`${current} is not null` : sql`${current} < ${value}`
  if (value === null) return sql`false`
  return order.isNullable === true
    ? sql`(${current} > ${value} or ${current} is null)`
    : sql`${current} > ${value}`
}

/** Returns a condition on the first column that an index can use. */
function createRangeCondition(first: Position | undefined, ref: QualifyColumn): RawBuilder<unknown> {
  if (first === undefined || first.value === null || first.via !== undefined) return sql``
  if (first.direction === 'desc') return sql`and ${ref(first.column)} <= ${first.value}`
  return first.isNullable === true ? sql`` : sql`and ${ref(first.column)} >= ${first.value}`
}

/** Returns the `order by` columns of a page; ties are broken by id. */
export function createOrderSql({ order }: Page, ref: QualifyColumn): RawBuilder<unknown> {
  const columns = order.map(
    ({ direction, ...column }) => sql`${createColumnSql(column, ref)} ${sql.raw(direction)},`,
  )
  return sql`${sql.join(columns, sql` `)} ${ref('id')}`
}
