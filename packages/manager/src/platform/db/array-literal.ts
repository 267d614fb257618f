// Columns of many rows as PostgreSQL arrays in text form. Written here because the driver escapes every element with
// several regular expressions, which takes longer than the rest of writing a log row.

/** For values that need no quotes: ids, numbers, booleans and times. Null stays null. */
export function plainArray(values: readonly (string | number | boolean | null)[]): string {
  let literal = ''
  for (const value of values) literal += `,${value ?? 'NULL'}`
  return `{${literal.slice(1)}}`
}

/** For texts of any content; null stays null. */
export function textArray(values: readonly (string | null)[]): string {
  let literal = ''
  for (const value of values) literal += `,${value === null ? 'NULL' : quoted(value)}`
  return `{${literal.slice(1)}}`
}

const special = /["\\]/
const quoted = (text: string): string =>
  special.test(text) ? `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"` : `"${text}"`
