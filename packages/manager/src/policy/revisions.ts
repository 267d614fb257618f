// Rejects a change that is based on an outdated revision of an object. The caller must hold the row lock.
import { AppError } from '../platform/errors.ts'
import { systemChain } from '../platform/audit/entry.ts'
import type { AuditAction } from '../platform/audit/append.ts'
import type { Tx } from '../platform/postgres/handles.ts'
import type { Actor } from './actor.ts'
import { listPermissionsOn } from './authorize.ts'

/** A row with a revision number; `projectId` is null or absent if the row belongs to no project. */
type RowWithRevision = { id: string; revision: number; projectId?: string | null }
/** The revision that a change is based on; without it, the change applies to any revision. */
export type ExpectedRevision = number | null | undefined

/** The id of an object to change, and its expected revision. */
export type RefWithRevision = { readonly id: string; readonly expectedRevision?: ExpectedRevision }

/**
 * Throws `CONFLICT` with the current revision if it is not the expected one. The error names the person who made the
 * last change only to callers who may read the audit trail.
 */
export async function checkRevision(
  tx: Tx,
  actor: Actor,
  { id, revision, projectId = null }: RowWithRevision,
  expected: ExpectedRevision,
): Promise<void> {
  if (expected === null || expected === undefined || expected === revision) return
  const changedBy = (await canReadTrail(actor, projectId)) ? await findLastEditor(tx, projectId, id) : null
  throw new AppError(
    'CONFLICT',
    `the object has changed: its revision is ${revision}, the expected revision is ${expected}; read it again and repeat the change`,
    { details: { objectId: id, currentRevision: revision, ...(changedBy === null ? {} : { changedBy }) } },
  )
}

/** These actions are recorded for an object but do not change it. */
const actionsWithoutChange: readonly AuditAction[] = ['run', 'retry', 'test', 'wake']

async function canReadTrail(actor: Actor, projectId: string | null): Promise<boolean> {
  if (projectId === null) return actor.isAdministrator
  // The guard has already loaded the roles in this project, so the check does not have to wait for a second
  // connection.
  return (await listPermissionsOn(actor, { projectId })).includes('AUDIT_READ')
}

/** Returns the name of the user who made the last audited change, or null if another principal made it. */
async function findLastEditor(tx: Tx, projectId: string | null, id: string): Promise<string | null> {
  const row = await tx
    .selectFrom('auditLogs')
    .leftJoin('users', 'users.id', 'auditLogs.userId')
    .select(['users.externalName', 'users.externalUsername'])
    .where('chainId', '=', projectId ?? systemChain)
    .where('entityId', '=', id)
    .where('action', 'not in', actionsWithoutChange)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  const { externalName, externalUsername } = row ?? { externalName: null, externalUsername: null }
  return externalName === '' ? externalUsername : externalName
}
