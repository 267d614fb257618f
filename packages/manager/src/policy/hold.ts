// Rights read again inside a writing transaction. The rows stay locked until it ends, so a demotion or a revocation either
// comes before the write and stops it, or waits for it.
import type { Permission } from '../generated/graphql.ts'
import type { Tx } from '../platform/db/database.ts'
import { forbidden } from '../platform/errors.ts'
import { type Actor, credentialEnded } from './actor.ts'
import { describeGrant } from './authorize.ts'
import { permissions } from './permissions.ts'
import { type ProjectRole, projectRank } from './roles.ts'

/**
 * Throws unless what the caller presented still counts. For what outlives the request, such as a new credential: whoever
 * makes one has waited for its hash, and may have lost the right to it meanwhile.
 */
export async function holdCredential(tx: Tx, actor: Actor): Promise<void> {
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
export async function holdPermission(
  tx: Tx,
  actor: Actor,
  permission: Permission,
  projectId: string,
): Promise<void> {
  await holdCredential(tx, actor)
  const grant = permissions[permission]
  if (await holdsAdministrator(tx, actor.user.id)) return
  const role = await projectRoleOf(tx, projectId, actor.user.id)
  if (grant.project === undefined || projectRank(role) < projectRank(grant.project))
    throw forbidden(`not permitted: this needs ${describeGrant(grant)}`)
}

/** True when the user is an administrator. */
export async function holdsAdministrator(tx: Tx, userId: string): Promise<boolean> {
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
