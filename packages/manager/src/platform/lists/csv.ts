// CSV that is safe to open in a spreadsheet.

// Spreadsheets evaluate a cell that starts with one of these characters as a formula, even if the text is untrusted.
// They may strip leading spaces and quotes first.
const formulaStartPattern = /^(?:[\t\r\n\0]|(?:[^\S\t\r\n]|[\0"])*[=+\-@＝＋－＠])/
// Some spreadsheets split cells at semicolons or tabs. They treat a quote inside a line as text, so a line break in a
// quoted cell starts a new record.
const innerFormulaPattern = /([;\t\r\n])((?:[^\S\t\r\n]|[\0"])*[=+\-@＝＋－＠])/g
const quotingPattern = /[",;\r\n\t\0]|^ | $/

/** The value of a CSV cell; null becomes an empty cell. */
export type Cell = string | number | boolean | null

/**
 * Returns one RFC 4180 record with its line break. Each part of the text that would be a formula gets the
 * prefix `'`.
 */
export const formatCsvRecord = (cells: readonly Cell[]): string => `${cells.map(formatCsvCell).join(',')}\r\n`

function formatCsvCell(cell: Cell): string {
  if (cell === null) return ''
  if (typeof cell !== 'string') return String(cell)
  const escapedText = cell.replace(innerFormulaPattern, "$1'$2")
  const text = formulaStartPattern.test(cell) ? `'${escapedText}` : escapedText
  return quotingPattern.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
