// CSV for people who open it in a spreadsheet. Pure.

// A cell that starts with one of these characters is a formula to a spreadsheet, whoever wrote the text. Spaces and
// quotes before it may be removed.
const startsFormula = /^(?:[\t\r\n\0]|(?:[^\S\t\r\n]|[\0"])*[=+\-@＝＋－＠])/
// A spreadsheet that separates cells by semicolons or tabs sees a cell behind each of them; it also reads quotes inside a
// line as text, and then ends the record at a line break.
const startsFormulaWithin = /([;\t\r\n])((?:[^\S\t\r\n]|[\0"])*[=+\-@＝＋－＠])/g
const needsQuotes = /[",;\r\n\t\0]|^ | $/

export type Cell = string | number | boolean | null

/** One record of RFC 4180, with its line break. Every part of a text that would be a formula gets an apostrophe in front. */
export const csvRecord = (cells: readonly Cell[]): string => `${cells.map(csvCell).join(',')}\r\n`

function csvCell(cell: Cell): string {
  if (cell === null) return ''
  if (typeof cell !== 'string') return String(cell)
  const parts = cell.replace(startsFormulaWithin, "$1'$2")
  const text = startsFormula.test(cell) ? `'${parts}` : parts
  return needsQuotes.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
