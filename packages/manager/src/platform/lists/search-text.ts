// The text that a search index contains: the texts of a row, with a separator before and after each text. The index
// and the statements must use the same expression. No stored text and no searched text contains the separator.

const separator = '\u0001'

/** Returns the SQL of the text of a row. */
export const createSearchTextSql = (columns: readonly string[]): string =>
  `(E'\\x01' || ${columns.join(` || E'\\x01' || `)} || E'\\x01')`

/** How a search text must match a text of the row: exactly, from the start, or anywhere. */
export type SearchMatch = 'whole' | 'start' | 'anywhere'

/** Returns the ILIKE pattern for rows with a text that matches `text` literally. */
export function createSearchPattern(text: string, match: SearchMatch): string {
  const literal = text.replace(/[\\%_]/g, '\\$&')
  return `%${match === 'anywhere' ? '' : separator}${literal}${match === 'whole' ? separator : ''}%`
}
