// Names for statements on Kysely handles. A connection prepares a named statement once; PostgreSQL parses and plans
// any other statement at every run.
import { createHash } from 'node:crypto'

// Each connection keeps every prepared statement with its plan, about 20 KB of server memory.
const maxNames = 200

/** Returns the name for a statement, or undefined if too many other statements already have names. */
export type NameStatement = (text: string) => string | undefined

/** Creates the names for one process. The limit holds even if callers influence the SQL text. */
export function createStatementNames(): NameStatement {
  const names = new Map<string, string>()
  return (text) => {
    const knownName = names.get(text)
    if (knownName !== undefined || names.size >= maxNames) return knownName
    const name = `read-${createHash('sha256').update(text).digest('hex').slice(0, 32)}`
    names.set(text, name)
    return name
  }
}
