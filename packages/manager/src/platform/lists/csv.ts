// CSV that is safe to open in a spreadsheet. Pure.

// Spreadsheets evaluate a cell that starts with one of these characters as a formula, even if the text is untrusted.
// They may strip leading spaces and quotes first.
const startsFormula = /^(?:[\t\r\n\0]|(?:[^\S\t\r\n]|[\0"])*[=+\-@＝＋－＠])/
// A spreadsheet that separates cells by semicolons or tabs starts a new cell after each of them. It also treats quotes
// inside a line as text, and then ends the record at a line break.
const startsFormulaWithin = /([;\t\r\n])((?:[^\S\t\r\n]|[\0"])*[=+\-@＝＋－＠])/g
const needsQuotes = /[",;\r\n\t\0]|^ | $/

/** The value of a CSV cell; null is an empty cell. */
export type Cell = string | number | boolean | null

/** Returns one RFC 4180 record with its line break. Each part of a text that would be a formula gets the prefix `'`. */
export const csvRecord = (cells: readonly Cell[]): string => `${cells.map(csvCell).join(',')}\r\n`

function csvCell(cell: Cell): string {
  if (cell === null) return ''
  if (typeof cell !== 'string') return String(cell)
  const parts = cell.replace(startsFormulaWithin, "$1'$2")
  const text = startsFormula.test(cell) ? `'${parts}` : parts
  return needsQuotes.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
