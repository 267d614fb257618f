// What a call appended to the audit trail, and whether that is what its mutation declares.
import type { TestApp } from '../kit/app.ts'

export type AuditRow = {
  user_id: string | null
  entity_type: string
  action: string
  changes: Record<string, { before: unknown; after: unknown }>
}

/** Columns whose changes are noted without their values. Any other that reads so was classified by nobody. */
const secretColumns: Record<string, string[]> = { endpoint: ['authPassword', 'authToken'] }

/** A function that answers the rows appended since it was last asked, in any chain. */
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
 * What is wrong with the rows of a call, or null: they are the declared ones, name their caller and what changed, and
 * show no column that nobody classified.
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
    if (user_id !== callerId) return `the row of ${entity_type} names another caller`
    if (Object.keys(changes).length === 0) return `the row of ${entity_type} names no change`
    for (const [column, { before, after }] of Object.entries(changes))
      if ([before, after].includes('[secret]') && secretColumns[entity_type]?.includes(column) !== true)
        return `the row of ${entity_type} names ${column}, which is not classified`
  }
  return null
}
