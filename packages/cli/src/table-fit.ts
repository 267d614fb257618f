// Makes a table fit the width of a terminal.
import { cutToWidth, getWidth } from './text-width.ts'

export type Table = {
  /** The names of the fields. */
  columns: readonly string[]
  header: readonly string[]
  rows: readonly (readonly string[])[]
}
const gap = 2
/** First, long texts are cut to this width. Only a very narrow terminal cuts more. */
const comfortableWidth = 12
const minWidth = 4

/** Returns the table with cut cells. The first column and the ids stay complete if possible; ids are left out first. */
export function fitTable(table: Table, maxWidth: number): Table {
  const widths = getWidths(table)
  if (getTotal(widths) <= maxWidth) return table
  const shrunkWidths = shrink(widths, maxWidth, (column) => column > 0 && table.columns[column] !== 'id')
  if (getTotal(shrunkWidths) <= maxWidth) return cutCells(table, shrunkWidths)
  const idColumn = table.columns.indexOf('id')
  if (idColumn > 0) return fitTable(removeColumn(table, idColumn), maxWidth)
  const minimalWidths = shrink(shrunkWidths, maxWidth, () => true, minWidth)
  return cutCells(table, minimalWidths)
}

const getWidths = ({ header, rows }: Table): number[] =>
  header.map((name, column) =>
    rows.reduce((width, row) => Math.max(width, getWidth(row[column] ?? '')), getWidth(name)),
  )

const getTotal = (widths: readonly number[]): number =>
  widths.reduce((total, width) => total + width + gap, -gap)

/** Reduces the widest columns until the table fits or each column has its minimum width. */
function shrink(
  widths: readonly number[],
  maxWidth: number,
  canShrink: (column: number) => boolean,
  minimum = comfortableWidth,
): number[] {
  const result = [...widths]
  for (;;) {
    const excess = getTotal(result) - maxWidth
    const candidates = result
      .map((width, column) => ({ width, column }))
      .filter(({ width, column }) => width > minimum && canShrink(column))
      .toSorted((a, b) => b.width - a.width)
    const [widest, next] = candidates
    if (excess <= 0 || widest === undefined) return result
    const step = Math.max(1, widest.width - Math.max(next?.width ?? minimum, minimum))
    result[widest.column] = widest.width - Math.min(step, excess)
  }
}

const cutCells = (table: Table, widths: readonly number[]): Table => {
  const cutRow = (row: readonly string[]): string[] =>
    row.map((cell, column) => cutToWidth(cell, widths[column] ?? 0))
  return { ...table, header: cutRow(table.header), rows: table.rows.map(cutRow) }
}

const removeColumn = ({ columns, header, rows }: Table, removed: number): Table => {
  const keep = (row: readonly string[]): string[] => row.filter((_cell, column) => column !== removed)
  return { columns: keep(columns), header: keep(header), rows: rows.map(keep) }
}
