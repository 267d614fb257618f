// Rights read again inside a writing transaction. The rows stay locked until it ends, so a demotion or a revocation
// either comes before the write and stops it, or waits for it.
import type { Permission } from './permissions.ts'
import type { Tx } from '../platform/postgres/handles.ts'
import { notPermitted } from '../platform/errors.ts'
import { type Actor, credentialEnded } from './actor.ts'
import { describeRequirement } from './authorize.ts'
import { permissions } from './permissions.ts'
import { type ProjectRole, projectRank } from './roles.ts'

/**
 * Throws unless the caller's credential is still valid. For what outlives the request, such as a new credential: its
 * creation waited for the hash, and the caller may have lost the right to it meanwhile.
 */
export async function recheckCredential(tx: Tx, actor: Actor): Promise<void> {
  if (actor.tokenId === null) return
  const row = await tx
    .selectFrom('personalAccessTokens')
    .select('id')
    .where('id', '=', actor.tokenId)
    .where('revoked', '=', false)
    .where((eb) => eb.or([eb('expiresAt', 'is', null), eb('expiresAt', '>', eb.fn<string>('now'))]))
    .forShare()
    .executeTakeFirst()
  if (row === undefined) throw credentialEnded()
}

/** The same, and throws unless the caller still holds a permission of the project by their role in it. */
export async function recheckPermission(
  tx: Tx,
  actor: Actor,
  permission: Permission,
  projectId: string,
): Promise<void> {
  await recheckCredential(tx, actor)
  if (!(await stillHolds(tx, actor, permission, projectId)))
    throw notPermitted(`this needs ${describeRequirement(permissions[permission])}`)
}

/** True when the caller still holds a permission of the project by their role in it. */
export async function stillHolds(
  tx: Tx,
  actor: Actor,
  permission: Permission,
  projectId: string,
): Promise<boolean> {
  if (await isStillAdministrator(tx, actor.user.id)) return true
  const { project: required } = permissions[permission]
  const role = await projectRoleOf(tx, projectId, actor.user.id)
  return required !== undefined && projectRank(role) >= projectRank(required)
}

/** The same for a permission that only administrators hold. */
export async function recheckSystemPermission(tx: Tx, actor: Actor, permission: Permission): Promise<void> {
  await recheckCredential(tx, actor)
  if (!(await isStillAdministrator(tx, actor.user.id)))
    throw notPermitted(`this needs ${describeRequirement(permissions[permission])}`)
}

/** True when the user is an administrator. */
export async function isStillAdministrator(tx: Tx, userId: string): Promise<boolean> {
  const row = await tx
    .selectFrom('users')
    .select('role')
    .where('id', '=', userId)
    .forShare()
    .executeTakeFirst()
  return row?.role === 'administrator'
}

/** The user's role in the project or null. */
export async function projectRoleOf(tx: Tx, projectId: string, userId: string): Promise<ProjectRole | null> {
  const row = await tx
    .selectFrom('user2projects')
    .select('role')
    .where('projectId', '=', projectId)
    .where('userId', '=', userId)
    .forShare()
    .executeTakeFirst()
  return (row?.role ?? null) as ProjectRole | null
}
