// Decides which pages of a list are prepared statements.
import { type Reads, withPreparedStatements } from '../postgres/handles.ts'
import type { Page } from './filters.ts'

/**
 * Returns a handle that prepares the page if an index on the parent returns its rows in the requested order; `ordered`
 * lists the columns of such orders. Then one plan is right for every parent. All other pages are planned with their
 * actual values: the best plan for a filter or a sort depends on the number of matching rows.
 */
export function getPageHandle(
  db: Reads,
  { filters, order, reading }: Page,
  ordered: readonly string[],
): Reads {
  const [first = { column: 'id' }, ...others] = order
  const usesIndexOrder = others.length === 0 && ordered.includes(first.column)
  // Pages by cursor and totals have many different SQL texts, which would exhaust the names of prepared statements.
  const isPlain = filters.length === 0 && (reading.after ?? null) === null && reading.hasTotal !== true
  return isPlain && usesIndexOrder ? withPreparedStatements(db) : db
}
