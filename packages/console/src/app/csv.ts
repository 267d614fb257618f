// CSV files that are safe to open in a spreadsheet.

// Spreadsheets evaluate a cell that starts with one of these characters as a formula, even if the text is untrusted.
// They may strip leading spaces and quotes first. Apostrophes are included, so that `readCell` can remove the prefix
// that `formatCell` adds, and only this prefix.
const formulaStartPattern = /^(?:'*[\t\r\n\0]|(?:[^\S\t\r\n]|[\0"'])*[=+\-@＝＋－＠])/
// A spreadsheet that separates cells by semicolons or tabs starts a new cell after each of these characters.
const innerFormulaPattern = /([;\t\r\n])((?:[^\S\t\r\n]|[\0"'])*[=+\-@＝＋－＠])/g
const escapedFormulaPattern = /([;\t\r\n])'((?:[^\S\t\r\n]|[\0"'])*[=+\-@＝＋－＠])/g
const quotingPattern = /[",;\r\n\t\0]|^ | $/

function formatCell(cell: string | number): string {
  if (typeof cell === 'number') return String(cell)
  const escaped = cell.replace(innerFormulaPattern, "$1'$2")
  const text = formulaStartPattern.test(cell) ? `'${escaped}` : escaped
  return quotingPattern.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Returns the original text of a cell that `formatCsv` has written. */
function readCell(text: string): string {
  const rest = text.replace(escapedFormulaPattern, '$1$2')
  return rest.startsWith("'") && formulaStartPattern.test(rest.slice(1)) ? rest.slice(1) : rest
}

/** Returns the rows as CSV. Cells that a spreadsheet would evaluate get the prefix `'`. */
export const formatCsv = (rows: readonly (readonly (string | number)[])[]): string =>
  rows.map((cells) => `${cells.map(formatCell).join(',')}\r\n`).join('')

const separators = [',', ';', '\t'] as const

/** Spreadsheets in some languages separate cells by semicolons. The first line decides. */
function findSeparator(text: string): string {
  const [head = ''] = text.split(/[\r\n]/, 1)
  const counts = separators.map((separator) => head.split(separator).length)
  return separators[counts.indexOf(Math.max(...counts))] ?? ','
}

/** Returns the position of the next separator or line end. */
function findCellEnd(text: string, start: number, separator: string): number {
  let end = start
  while (end < text.length && text[end] !== separator && text[end] !== '\r' && text[end] !== '\n') end++
  return end
}

type CsvCell = { readonly text: string; readonly end: number }

/** Returns the cell that starts at a position. If its closing quote is missing, the cell ends with the file. */
function takeCell(text: string, start: number, separator: string): CsvCell {
  if (text[start] !== '"') {
    const end = findCellEnd(text, start, separator)
    return { text: text.slice(start, end), end }
  }
  let quote = text.indexOf('"', start + 1)
  while (quote !== -1 && text[quote + 1] === '"') quote = text.indexOf('"', quote + 2)
  const close = quote === -1 ? text.length : quote
  return {
    text: text.slice(start + 1, close).replaceAll('""', '"'),
    end: findCellEnd(text, Math.min(close + 1, text.length), separator),
  }
}

/** Returns the cells of a CSV file, without empty lines and without the prefixes of `formatCsv`. */
export function parseCsv(file: string): string[][] {
  const text = file.startsWith('\uFEFF') ? file.slice(1) : file
  const separator = findSeparator(text)
  const rows: string[][] = [[]]
  for (let position = 0; position < text.length;) {
    const cell = takeCell(text, position, separator)
    rows.at(-1)?.push(readCell(cell.text))
    position = cell.end + 1
    if (cell.end === text.length || text[cell.end] === separator) continue
    rows.push([])
    if (text.startsWith('\r\n', cell.end)) position++
  }
  return rows.filter((cells) => cells.some((cell) => cell !== ''))
}

/** Saves a CSV file. The byte order mark makes spreadsheets read it as UTF-8. */
export const saveCsv = (name: string, rows: readonly (readonly (string | number)[])[]): void =>
  saveText(name, `\uFEFF${formatCsv(rows)}`, 'text/csv')

/** Makes the browser download a text as a file. */
export function saveText(name: string, text: string, type: 'text/csv' | 'application/json'): void {
  const address = URL.createObjectURL(new Blob([text], { type }))
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
