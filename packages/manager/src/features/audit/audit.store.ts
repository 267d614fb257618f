import { type Selectable, sql } from 'kysely'
import type { DB } from '../../generated/db.ts'
import type { Reads } from '../../platform/postgres/handles.ts'
import type { TimeWindow } from '../../platform/inputs/time-window.ts'
import type { ListFields, Page } from '../../platform/lists/filters.ts'
import { fetchPages } from '../../platform/lists/page.ts'
import { createChainWindowSql } from './chain-window.store.ts'

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

/** A stored row of the audit trail. */
export type AuditRow = Pick<Selectable<DB['auditLogs']>, (typeof auditColumns)[number]>

/** Returns one page of rows from a chain, restricted to a time window if the page has one. */
export function listAuditLogs(
  db: Reads,
  chainId: string,
  { page, window }: { page: Page; window: TimeWindow },
): Promise<AuditRow[]> {
  return fetchPages(db, {
    table: 'auditLogs',
    columns: auditColumns,
    page,
    where: sql<boolean>`true ${createChainWindowSql(chainId, window)}`,
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
