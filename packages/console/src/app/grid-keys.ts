// Keys that move the active cell of a grid, as in a spreadsheet.
export type Cell = { readonly row: number; readonly column: number }
type Key = { readonly key: string; readonly ctrlKey: boolean; readonly metaKey: boolean }
type Size = { readonly rows: number; readonly columns: number }

const pageRows = 10

const clamp = (value: number, count: number): number => Math.max(0, Math.min(value, count - 1))

/** Returns the closest cell inside the grid. */
export const clampCell = ({ row, column }: Cell, { rows, columns }: Size): Cell => ({
  row: clamp(row, rows),
  column: clamp(column, columns),
})

/** Returns the next active cell, or null if the key does not move it. */
export function moveCell({ key, ctrlKey, metaKey }: Key, { row, column }: Cell, size: Size): Cell | null {
  const isWhole = ctrlKey || metaKey
  const moves: Readonly<Record<string, Cell>> = {
    ArrowUp: { row: row - 1, column },
    ArrowDown: { row: row + 1, column },
    ArrowLeft: { row, column: column - 1 },
    ArrowRight: { row, column: column + 1 },
    PageUp: { row: row - pageRows, column },
    PageDown: { row: row + pageRows, column },
    Home: { row: isWhole ? 0 : row, column: 0 },
    End: { row: isWhole ? size.rows - 1 : row, column: size.columns - 1 },
  }
  const next = moves[key]
  return next === undefined ? null : clampCell(next, size)
}
