// Describes an SQL statement for a span: its operation and the first table. The text is never exported, because it may
// contain literals.

const operations = new Set(['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'WITH'])
const operationPattern = /^\s{0,20}([A-Za-z]{1,20})\b/
const tablePattern = /\b(?:from|into|update|join) (?:only )?"?([a-z_][a-z0-9_]{0,62})\b/
// The table appears early, and a statement may be megabytes long.
const maxReadLength = 2_000

/** The operation is `SQL` for less common statements. */
export function describeStatement(sql: string): { operation: string; table: string | null } {
  const start = sql.slice(0, maxReadLength)
  const word = (operationPattern.exec(start)?.[1] ?? '').toUpperCase()
  return {
    operation: operations.has(word) ? word : 'SQL',
    table: tablePattern.exec(start)?.[1] ?? null,
  }
}
