// CSV for people who open it in a spreadsheet. Pure.

/** A cell that begins with one of these is a formula to a spreadsheet, whoever wrote the text. */
const startsFormula = /^[=+\-@\t\r\n\0＝＋－＠]/
const needsQuotes = /[",\r\n\t\0]|^ | $/

export type Cell = string | number | boolean | null

/** One record of RFC 4180, with its line break. A text that would start a formula gets an apostrophe in front. */
export const csvRecord = (cells: readonly Cell[]): string => `${cells.map(csvCell).join(',')}\r\n`

function csvCell(cell: Cell): string {
  if (cell === null) return ''
  if (typeof cell !== 'string') return String(cell)
  const text = startsFormula.test(cell) ? `'${cell}` : cell
  return needsQuotes.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
