// The page of a list that is already in memory, with the same filters, order and cursors as a page of a table.
import { decodeListCursor } from './cursor.ts'
import type { Page } from './filters.ts'
import type { ListedRow } from './page.ts'
import { listColumns, nameOrder } from './position.ts'

type Row = { id: string }
/** Returns the value of a column. */
type ReadColumn<T> = (row: T, column: string) => string

// One collation for every process: a cursor of one process must be valid in another.
const collator = new Intl.Collator('en')

/** All rows of a list. `isTruncated` if its source has more rows. */
type Rows<T> = { rows: readonly T[]; isTruncated: boolean }

/** A page whose list is counted already, so that the total needs no second read. */
export type CountedPage<T> = T[] & { listCount?: { total: number; isExact: boolean } }

/** Returns one page of the rows. Ties are broken by id. */
export function pageInMemory<T extends Row>(
  { rows, isTruncated }: Rows<T>,
  page: Page,
  read: ReadColumn<T>,
): CountedPage<T & Partial<ListedRow>> {
  const columns = listColumns(page)
  const { reading, offset, limit } = page
  const readPosition = (row: T): string[] => columns.map(({ column }) => read(row, column))
  const compare = (a: readonly (string | null)[], b: readonly (string | null)[]): number => {
    for (const [index, { direction }] of columns.entries()) {
      const difference = collator.compare(a[index] ?? '', b[index] ?? '')
      if (difference !== 0) return direction === 'asc' ? difference : -difference
    }
    return 0
  }
  const found = rows
    .filter((row) => matches(row, page, read))
    .map((row) => ({ row, position: readPosition(row) }))
    .toSorted((a, b) => compare(a.position, b.position))
  const name = nameOrder(columns)
  const after = typeof reading.after === 'string' ? decodeListCursor(reading.after, name) : null
  const shown = found
    .filter(({ position }) => after === null || compare(position, after) > 0)
    .slice(offset, offset + limit)
    .map(({ row, position }) => ({
      ...row,
      ...(reading.hasCursors === true ? { listCursor: JSON.stringify([name, ...position]) } : {}),
    }))
  return Object.assign(shown, { listCount: { total: found.length, isExact: !isTruncated } })
}

const matches = <T extends Row>(row: T, { filters }: Page, read: ReadColumn<T>): boolean =>
  filters.every(({ column, match, value }) =>
    match === 'text'
      ? read(row, column).toLowerCase().includes(value.toLowerCase())
      : read(row, column) === value,
  )
