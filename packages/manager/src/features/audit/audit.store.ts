import type { Reads } from '../../platform/postgres/handles.ts'
import type { ListFields, Page } from '../../platform/lists/filters.ts'
import { fetchPages } from '../../platform/lists/page.ts'

const columns = [
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
  principalType: { column: 'principalType', match: 'exact' },
  principal: { column: 'principalId', match: 'exact' },
  userId: { column: 'userId', match: 'id' },
  createdAt: { column: 'createdAt', match: 'time' },
}

/** Returns one page of rows from a chain. */
export function listAuditLogs(db: Reads, chainId: string, page: Page) {
  return fetchPages(db, { table: 'auditLogs', columns, page, parent: 'chainId', parentIds: [chainId] })
}
