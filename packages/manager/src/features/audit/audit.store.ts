import { type Selectable, sql } from 'kysely'
import type { DB } from '../../generated/db.ts'
import type { Reads } from '../../platform/postgres/handles.ts'
import type { ListFields, Page } from '../../platform/lists/filters.ts'
import { fetchPages } from '../../platform/lists/page.ts'

export const auditColumns = [
  'id',
  'chainId',
  'seq',
  'entityType',
  'entityId',
  'action',
  'description',
  'metadata',
  'changes',
  'principalType',
  'principalId',
  'userId',
  'ipAddress',
  'userAgent',
  'createdAt',
  'hash',
] as const

export const auditLogFields: ListFields = {
  id: { column: 'id', match: 'id' },
  seq: { column: 'seq', match: 'number' },
  entityType: { column: 'entityType', match: 'exact' },
  entityID: { column: 'entityId', match: 'exact' },
  action: { column: 'action', match: 'exact' },
  description: { column: 'description', match: 'text' },
  principalType: { column: 'principalType', match: 'exact', isNullable: true },
  principal: { column: 'principalId', match: 'exact', isNullable: true },
  userId: { column: 'userId', match: 'id', isNullable: true },
  createdAt: { column: 'createdAt', match: 'time' },
}

/** A row of the trail as it is stored. */
export type AuditRow = Pick<Selectable<DB['auditLogs']>, (typeof auditColumns)[number]>

/** Returns one page of rows from a chain. */
export function listAuditLogs(db: Reads, chainId: string, page: Page): Promise<AuditRow[]> {
  return fetchPages(db, {
    table: 'auditLogs',
    columns: auditColumns,
    page,
    parent: 'chainId',
    parentIds: [chainId],
  })
}

/** Returns when the verification last saved its progress, and when a checkpoint was signed. */
export async function findVerificationTimes(
  db: Reads,
  checkpointSeq: number,
): Promise<{ verifiedAt: string | null; checkpointAt: string | null }> {
  const { rows } = await sql<{ verifiedAt: string | null; checkpointAt: string | null }>`
    select (select verified_at from audit_verification) as verified_at,
      (select created_at from audit_checkpoints where seq = ${checkpointSeq}) as checkpoint_at`.execute(db)
  return rows[0] ?? { verifiedAt: null, checkpointAt: null }
}
