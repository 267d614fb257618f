// What a span says of an SQL statement: which operation, and the first table it names. Never its text: literals may be
// in it.

const operations = new Set(['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'WITH'])
const operationForm = /^\s{0,20}([A-Za-z]{1,20})\b/
const tableForm = /\b(?:from|into|update|join) (?:only )?"?([a-z_][a-z0-9_]{0,62})\b/
// The table is named early; a statement may have megabytes.
const maxRead = 2_000

/** The operation is `SQL` for what is none of the usual ones. */
export function describeStatement(sql: string): { operation: string; table: string | null } {
  const beginning = sql.slice(0, maxRead)
  const word = (operationForm.exec(beginning)?.[1] ?? '').toUpperCase()
  return {
    operation: operations.has(word) ? word : 'SQL',
    table: tableForm.exec(beginning)?.[1] ?? null,
  }
}
