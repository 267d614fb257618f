// Compares the audit rows that a call appends with the declaration of its mutation.
import type { TestApp } from '../kit/app.ts'

export type AuditRow = {
  user_id: string | null
  entity_type: string
  action: string
  changes: Record<string, { before: unknown; after: unknown }>
}

/**
 * Columns whose values are omitted from audit rows. If the values of any other column are omitted, the column was not
 * classified.
 */
const secretColumns: Record<string, string[]> = { endpoint: ['authPassword', 'authToken'] }

/** Returns a function that returns the rows appended to any chain since its last call. */
export async function followAudit({ sql }: TestApp): Promise<() => Promise<AuditRow[]>> {
  let heads: Record<string, string> = {}
  const appended = async (): Promise<AuditRow[]> => {
    const { rows } = await sql.query<AuditRow & { chain_id: string; seq: string }>(
      `select l.chain_id, l.seq, l.user_id, l.entity_type, l.action, l.changes
       from audit_chains c join audit_logs l on l.chain_id = c.chain_id
         and l.seq > coalesce(($1::jsonb ->> c.chain_id::text)::bigint, 0)
       where c.seq > coalesce(($1::jsonb ->> c.chain_id::text)::bigint, 0) order by l.chain_id, l.seq`,
      [JSON.stringify(heads)],
    )
    heads = { ...heads, ...Object.fromEntries(rows.map(({ chain_id, seq }) => [chain_id, seq])) }
    return rows
  }
  await appended()
  return appended
}

/**
 * Returns the problem with the audit rows of a call, or null. The rows must match the declaration, name the caller and
 * the changes, and contain only classified columns.
 */
export function auditSurprise(
  { declared, callerId }: { declared: readonly string[]; callerId: string },
  rows: readonly AuditRow[],
): string | null {
  const found = rows.map(({ entity_type, action }) => `${entity_type} ${action}`).toSorted()
  const wanted = declared.toSorted()
  if (found.join() !== wanted.join())
    return `appended [${found.join(', ')}] to the audit trail, declared [${wanted.join(', ')}]`
  for (const { entity_type, user_id, changes } of rows) {
    if (user_id !== callerId) return `the ${entity_type} row names another caller`
    if (Object.keys(changes).length === 0) return `the ${entity_type} row lists no change`
    for (const [column, { before, after }] of Object.entries(changes))
      if ([before, after].includes('[secret]') && secretColumns[entity_type]?.includes(column) !== true)
        return `the ${entity_type} row contains ${column}, which is not classified`
  }
  return null
}
