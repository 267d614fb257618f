// Prints rows one after the other: lines of a table for people, one JSON text per line or YAML documents for programs.
import { once } from 'node:events'
import type { Format } from '../format.ts'
import { type Row, formatCell, formatHeader, getTerminalWidth, serialize } from '../output.ts'
import { escapeLines } from '../printable.ts'
import { cutToWidth, getWidth, padToWidth } from '../text-width.ts'
import type { Terminal } from '../terminal.ts'
import { formatTimeCell, getLastingTimeStyle } from '../time-cells.ts'

/** Returns a function that prints rows. Columns become wider when a longer value appears. */
export function createRowStream(
  terminal: Terminal,
  format: Format,
  columns: readonly string[],
): (rows: readonly Row[]) => Promise<void> {
  const widths = columns.map(() => 0)
  const timeStyle = getLastingTimeStyle(terminal)
  const formatField = (field: string, value: unknown): string =>
    formatTimeCell(terminal, field, value, timeStyle) ?? formatCell(value)
  const formatLine = (cells: readonly string[]): string => {
    const line = cells
      .map((cell, column) => (column === cells.length - 1 ? cell : padToWidth(cell, widths[column] ?? 0)))
      .join('  ')
      .trimEnd()
    const width = getTerminalWidth(terminal)
    return width === null ? line : cutToWidth(line, width)
  }
  let isFirst = true
  const formatRows = (rows: readonly Row[]): string => {
    if (format === 'json') return rows.map((row) => `${escapeLines(JSON.stringify(row))}\n`).join('')
    if (format === 'yaml') return rows.map((row) => `---\n${serialize(row, 'yaml')}`).join('')
    const cells = rows.map((row) => columns.map((column) => formatField(column, row[column])))
    const lines = isFirst ? [columns.map(formatHeader), ...cells] : cells
    isFirst = false
    for (const line of lines)
      for (const [column, cell] of line.entries())
        widths[column] = Math.max(widths[column] ?? 0, getWidth(cell))
    return lines.map((line) => `${formatLine(line)}\n`).join('')
  }
  return async (rows) => {
    if (rows.length === 0) return
    // A slow reader must not fill the memory.
    if (!terminal.stdout.write(formatRows(rows))) await once(terminal.stdout, 'drain')
  }
}
