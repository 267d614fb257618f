// Prints command output: a table for people, JSON or YAML for programs.
import { Document, Scalar, visit } from 'yaml'
import type { Format } from './format.ts'
import { hasControlCharacters, escapeControlCharacters, escapeLines } from './printable.ts'
import { fitTable } from './table-fit.ts'
import { cutToWidth, getWidth } from './text-width.ts'
import type { Terminal } from './terminal.ts'
import { formatTimeCell } from './time-cells.ts'

export type Row = Readonly<Record<string, unknown>>

/** Formats a table. Each column is as wide as its widest cell, with two spaces between columns. */
export function formatTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  paintCell: (text: string, row: number, column: number) => string = (text) => text,
): string[] {
  const widths = header.map(getWidth)
  for (const row of rows)
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, getWidth(cell))
  const isLast = (column: number): boolean => column === header.length - 1
  return [header, ...rows].map((cells, index) =>
    cells
      .map((cell, column) => {
        const padding = isLast(column) ? '' : ' '.repeat((widths[column] ?? 0) - getWidth(cell) + 2)
        return (index === 0 ? cell : paintCell(cell, index - 1, column)) + padding
      })
      .join('')
      .trimEnd(),
  )
}

/** Formats a value as a single line for a table cell. */
export function formatCell(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value)) return value.map(formatCell).join(', ')
  return escapeControlCharacters(typeof value === 'string' ? value : JSON.stringify(value))
}

/** Returns the column header of a field: createdAt becomes CREATED AT. */
export const formatHeader = (field: string): string =>
  field.replace(/(?<=[a-z0-9])(?=[A-Z])/g, ' ').toUpperCase()

/** Formats a value as JSON or YAML, with control characters escaped. */
export function serialize(value: unknown, format: 'json' | 'yaml'): string {
  if (format === 'json') return `${escapeLines(JSON.stringify(value, null, 2))}\n`
  const document = new Document(value)
  visit(document, {
    // YAML interprets escapes only in double-quoted strings.
    Scalar: (_key, node) => {
      if (typeof node.value === 'string' && hasControlCharacters(node.value)) node.type = Scalar.QUOTE_DOUBLE
    },
  })
  return escapeLines(document.toString({ lineWidth: 0 }))
}

/** Prints the columns as a table, or the complete rows as JSON or YAML. */
export function printRows(
  terminal: Terminal,
  format: Format,
  columns: readonly string[],
  rows: readonly Row[],
): void {
  if (format !== 'table') return void terminal.stdout.write(serialize(rows, format))
  if (rows.length === 0) return void terminal.stderr.write('Nothing found.\n')
  const cells = rows.map((row) => columns.map((column) => formatField(terminal, column, row[column])))
  const table = { columns, header: columns.map(formatHeader), rows: cells }
  const width = getTerminalWidth(terminal)
  const { header, rows: lines } = width === null ? table : fitTable(table, width)
  const text = formatTable(header, lines).map((line) => (width === null ? line : cutToWidth(line, width)))
  terminal.stdout.write(`${text.join('\n')}\n`)
}

/** Returns the number of columns of the terminal, or null if the output is not a terminal. */
export const getTerminalWidth = ({ stdout }: Pick<Terminal, 'stdout'>): number | null =>
  stdout.isTTY === true && stdout.columns !== undefined && stdout.columns > 0 ? stdout.columns : null

const formatField = (terminal: Terminal, field: string, value: unknown): string =>
  formatTimeCell(terminal, field, value) ?? formatCell(value)

/** Prints one row, with one field per line. */
export function printRow(terminal: Terminal, format: Format, row: Row): void {
  if (format !== 'table') return void terminal.stdout.write(serialize(row, format))
  const fields = Object.entries(row).map(([name, value]) => [escapeControlCharacters(name), value] as const)
  const width = Math.max(...fields.map(([name]) => name.length))
  const lines = fields.map(([name, value]) =>
    `${name.padEnd(width)}  ${formatField(terminal, name, value)}`.trimEnd(),
  )
  terminal.stdout.write(`${lines.join('\n')}\n`)
}

/** Prints a confirmation sentence for people, or the row for programs. */
export function printResult(terminal: Terminal, format: Format, sentence: string, row: Row): void {
  if (format === 'table') terminal.stdout.write(`${escapeControlCharacters(sentence)}\n`)
  else terminal.stdout.write(serialize(row, format))
}

/** Prints a message to standard error, so that standard output contains only the result. */
export const printRemark = ({ stderr }: Pick<Terminal, 'stderr'>, text: string): void =>
  void stderr.write(`${escapeControlCharacters(text)}\n`)
