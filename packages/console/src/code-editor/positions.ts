// Converts positions of the API, which count lines and characters from 1, into positions in a text.

export type TextPosition = { readonly line: number; readonly column: number }

/** Returns the index of a column in a line. The API counts a character outside of the BMP once, JavaScript twice. */
export function findIndex(line: string, column: number): number {
  let index = 0
  for (let count = 1; count < column && index < line.length; count++)
    index += (line.codePointAt(index) ?? 0) > 0xff_ff ? 2 : 1
  return index
}

/** Returns where the expression that starts at this index ends, so that the whole expression can be marked. */
export function findWordEnd(line: string, index: number): number {
  const length = /^(?:[.$\w]+|\S)/u.exec(line.slice(index))?.[0].length ?? 0
  return Math.min(line.length, index + length)
}
