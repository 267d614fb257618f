// Rules for every change over SCIM: the token is checked again inside of the transaction, the change must be based on the
// current version, and its audit rows name the token.
import type { Audit, AuditActor, AuditEvent } from '../../platform/audit/append.ts'
import type { Tx } from '../../platform/postgres/handles.ts'
import { invalidToken } from './scim-errors.pure.ts'
import { matchesVersion } from './scim-resource.pure.ts'
import { lockUsableToken } from './scim-tokens.store.ts'
import type { ScimChangeKind, ScimMetrics } from './scim.metrics.ts'

/** The token of the request, and the client that presented it. */
export type ScimCaller = Omit<AuditActor, 'principal'> & { tokenId: string; tokenName: string }
/** The user or group to change, and the If-Match header; null if the request has none. */
export type ScimTarget = { id: string; ifMatch: string | null }

/** Whether the change is based on the current version. */
export const isCurrent = ({ ifMatch }: ScimTarget, { revision }: { revision: number }): boolean =>
  ifMatch === null || matchesVersion(ifMatch, revision)

/** Throws 401 if the token was revoked or has expired since the start of the request. Returns its creator. */
export async function recheckToken(tx: Tx, { tokenId }: ScimCaller): Promise<string> {
  const token = await lockUsableToken(tx, tokenId)
  if (token === null) throw invalidToken()
  return token.creatorId
}

export type AppendScimEvents = (
  tx: Tx,
  caller: ScimCaller,
  events: readonly (AuditEvent | null)[],
) => Promise<void>

/** Returns a function that appends the audit rows of a change and counts the change. Call it last in the transaction. */
export function createScimAppend({
  audit,
  metrics,
}: {
  audit: Audit
  metrics: ScimMetrics
}): AppendScimEvents {
  return async (tx, { tokenId, tokenName, ...client }, events) => {
    const rows = events.filter((one) => one !== null)
    await audit.append(
      tx,
      { ...client, principal: { type: 'system', id: `scim token ${tokenId}` } },
      // Maintainers read the trail of their project, and only administrators see tokens.
      ...rows.map((row) =>
        row.projectId === null ? { ...row, metadata: { ...row.metadata, scimToken: tokenName } } : row,
      ),
    )
    for (const { entityType, action } of rows) {
      const kind = kinds.get(`${entityType} ${action}`)
      if (kind !== undefined) metrics.changes.inc({ kind })
    }
  }
}

const kinds: ReadonlyMap<string, ScimChangeKind> = new Map<string, ScimChangeKind>([
  ['provisionedUser create', 'create'],
  ['provisionedUser update', 'update'],
  ['provisionedUser delete', 'delete'],
  ['user deactivate', 'deactivate'],
  ['user reactivate', 'reactivate'],
  ['provisionedGroup create', 'group_create'],
  ['provisionedGroup update', 'group_update'],
  ['provisionedGroup delete', 'group_delete'],
])
