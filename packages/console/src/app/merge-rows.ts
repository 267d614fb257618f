// Merges a newer result of a list into the rows that a person reads, without moving any of them.

type Item = { readonly id: string }

export type MergedRows<Row> = {
  /** The rows in the order in which they were first shown. Changed rows have their new values. */
  readonly rows: readonly Row[]
  /** The ids of shown rows that the newer result no longer contains. */
  readonly gone: ReadonlySet<string>
  /** The number of rows that are held back. */
  readonly newCount: number
  /** False if all rows of a page are new, so that the list can have more new rows than the page. */
  readonly isNewCountExact: boolean
}

export type RowsResult<Row> = {
  readonly rows: readonly Row[]
  /** True if the result reaches the end of the list, so that a missing row was removed. */
  readonly isWhole: boolean
}

/** While a person reads a page for hours, rows at its end are no longer appended. */
const maxRows = 500

export const showAll = <Row>(rows: readonly Row[]): MergedRows<Row> => ({
  rows,
  gone: new Set(),
  newCount: 0,
  isNewCountExact: true,
})

/**
 * Keeps the shown rows in place and holds back new ones. Rows after the last shown row are appended, because they move
 * no other row. If rows are missing at the end of a page, they have moved to the next page and are not gone.
 */
export function mergeRows<Row extends Item>(
  shown: MergedRows<Row>,
  { rows: newer, isWhole }: RowsResult<Row>,
): MergedRows<Row> {
  if (shown.rows.length === 0) return showAll(newer)
  const newerById = new Map(newer.map((row) => [row.id, row]))
  const shownIds = new Set(shown.rows.map(({ id }) => id))
  const lastKept = shown.rows.findLastIndex(({ id }) => newerById.has(id))
  const lastCommon = newer.findLastIndex(({ id }) => shownIds.has(id))
  const isGone = ({ id }: Row, index: number): boolean =>
    !newerById.has(id) && (isWhole || index < lastKept || shown.gone.has(id))
  const held = lastCommon === -1 ? newer : newer.slice(0, lastCommon)
  const appended = lastCommon === -1 ? [] : newer.slice(lastCommon + 1)
  const canAppend = shown.rows.length + appended.length <= maxRows
  return {
    rows: [...shown.rows.map((row) => newerById.get(row.id) ?? row), ...(canAppend ? appended : [])],
    gone: new Set(shown.rows.filter(isGone).map(({ id }) => id)),
    newCount: held.filter(({ id }) => !shownIds.has(id)).length,
    isNewCountExact: isWhole || lastCommon !== -1,
  }
}
