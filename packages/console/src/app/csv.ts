// CSV files that are safe to open in a spreadsheet.

// Spreadsheets evaluate a cell that starts with one of these characters as a formula, even if the text is untrusted.
// They may strip leading spaces and quotes first.
const formulaStartPattern = /^(?:[\t\r\n\0]|(?:[^\S\t\r\n]|[\0"])*[=+\-@＝＋－＠])/
// A spreadsheet that separates cells by semicolons or tabs starts a new cell after each of these characters.
const innerFormulaPattern = /([;\t\r\n])((?:[^\S\t\r\n]|[\0"])*[=+\-@＝＋－＠])/g
const quotingPattern = /[",;\r\n\t\0]|^ | $/

function formatCell(cell: string | number): string {
  if (typeof cell === 'number') return String(cell)
  const escaped = cell.replace(innerFormulaPattern, "$1'$2")
  const text = formulaStartPattern.test(cell) ? `'${escaped}` : escaped
  return quotingPattern.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Returns the rows as CSV. Cells that a spreadsheet would evaluate get the prefix `'`. */
const formatCsv = (rows: readonly (readonly (string | number)[])[]): string =>
  rows.map((cells) => `${cells.map(formatCell).join(',')}\r\n`).join('')

/** Saves a CSV file. The byte order mark makes spreadsheets read it as UTF-8. */
export function saveCsv(name: string, rows: readonly (readonly (string | number)[])[]): void {
  const address = URL.createObjectURL(new Blob(['\uFEFF', formatCsv(rows)], { type: 'text/csv' }))
  downloadFile(address, name)
  URL.revokeObjectURL(address)
}

/** Makes the browser download the file at an address. */
export function downloadFile(address: string, name: string): void {
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
}
