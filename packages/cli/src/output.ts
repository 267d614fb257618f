// What commands print: a table for people, JSON or YAML for programs.
import { Document, Scalar, visit } from 'yaml'
import { hasSteering, printable, printableLines } from './printable.ts'
import type { World } from './world.ts'

export const formats = ['table', 'json', 'yaml'] as const
export type Format = (typeof formats)[number]
export type Row = Readonly<Record<string, unknown>>

/** Lines of a table: columns as wide as their widest cell, two spaces apart. */
export function tableLines(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  paintCell: (text: string, row: number, column: number) => string = (text) => text,
): string[] {
  const widths = header.map(({ length }) => length)
  for (const row of rows)
    for (const [column, { length }] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, length)
  const isLast = (column: number): boolean => column === header.length - 1
  return [header, ...rows].map((cells, index) =>
    cells
      .map((cell, column) => {
        const padding = isLast(column) ? '' : ' '.repeat((widths[column] ?? 0) - cell.length + 2)
        return (index === 0 ? cell : paintCell(cell, index - 1, column)) + padding
      })
      .join('')
      .trimEnd(),
  )
}

/** A value in one cell. */
export function cellOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value)) return value.map(cellOf).join(', ')
  return printable(typeof value === 'string' ? value : JSON.stringify(value))
}

/** The name of a field as the head of a column: createdAt is CREATED AT. */
const headOf = (field: string): string => field.replace(/(?<=[a-z0-9])(?=[A-Z])/g, ' ').toUpperCase()

/** The value as JSON or YAML. */
export function serialize(value: unknown, format: 'json' | 'yaml'): string {
  if (format === 'json') return `${printableLines(JSON.stringify(value, null, 2))}\n`
  const document = new Document(value)
  visit(document, {
    // An escape is one in double quotes only.
    Scalar: (_key, node) => {
      if (typeof node.value === 'string' && hasSteering(node.value)) node.type = Scalar.QUOTE_DOUBLE
    },
  })
  return printableLines(document.toString({ lineWidth: 0 }))
}

/** Rows as a table of these columns, or whole. */
export function printRows(
  world: World,
  format: Format,
  columns: readonly string[],
  rows: readonly Row[],
): void {
  if (format !== 'table') return void world.stdout.write(serialize(rows, format))
  if (rows.length === 0) return void world.stderr.write('Nothing found.\n')
  const cells = rows.map((row) => columns.map((column) => cellOf(row[column])))
  world.stdout.write(`${tableLines(columns.map(headOf), cells).join('\n')}\n`)
}

/** One row with all its fields, one a line. */
export function printRow(world: World, format: Format, row: Row): void {
  if (format !== 'table') return void world.stdout.write(serialize(row, format))
  const fields = Object.entries(row).map(([name, value]) => [printable(name), value] as const)
  const width = Math.max(...fields.map(([name]) => name.length))
  const lines = fields.map(([name, value]) => `${name.padEnd(width)}  ${cellOf(value)}`.trimEnd())
  world.stdout.write(`${lines.join('\n')}\n`)
}

/** A sentence about what was done; programs get the row. */
export function printDone(world: World, format: Format, sentence: string, row: Row): void {
  if (format === 'table') world.stdout.write(`${printable(sentence)}\n`)
  else world.stdout.write(serialize(row, format))
}

/** A remark for people, beside what is printed. */
export const remark = ({ stderr }: Pick<World, 'stderr'>, text: string): void =>
  void stderr.write(`${printable(text)}\n`)
