// These functions check rights again inside a writing transaction. The rows stay locked until the transaction
// ends. A demotion or revocation therefore either commits first and prevents the write, or waits for it.
import { type RawBuilder, sql } from 'kysely'
import type { Permission } from './permissions.ts'
import { buildIsActiveSql } from '../platform/postgres/active-users.ts'
import type { Tx } from '../platform/postgres/handles.ts'
import { notPermitted } from '../platform/errors.ts'
import { type Actor, createCredentialEndedError, createDeactivatedError } from './actor.ts'
import { describeRequirement } from './authorize.ts'
import { permissions } from './permissions.ts'
import { type ProjectRole, getProjectRank } from './roles.ts'

/**
 * Throws unless the caller is still active and, if the caller presented a token, the token is still valid. Results that
 * outlive the request, such as a new credential, need this check. Creating a credential waits for the hash, and the
 * caller can lose the right during that time.
 */
export async function recheckCredential(tx: Tx, { user, tokenId }: Actor): Promise<void> {
  const owner = tx
    .selectFrom('users')
    .select(isActive('users').as('isActive'))
    .where('users.id', '=', user.id)
    .forShare()
  if (tokenId === null) {
    const row = await owner.executeTakeFirst()
    if (row?.isActive !== true) throw createDeactivatedError()
    return
  }
  const row = await owner
    .innerJoin('personalAccessTokens as t', 't.userId', 'users.id')
    .where('t.id', '=', tokenId)
    .where('t.revoked', '=', false)
    .where((eb) => eb.or([eb('t.expiresAt', 'is', null), eb('t.expiresAt', '>', eb.fn<string>('now'))]))
    .executeTakeFirst()
  if (row === undefined) throw createCredentialEndedError()
  if (!row.isActive) throw createDeactivatedError()
}

/** Throws unless the credential is still valid and the caller's role still grants the permission in the project. */
export async function recheckPermission(
  tx: Tx,
  actor: Actor,
  permission: Permission,
  projectId: string,
): Promise<void> {
  await recheckCredential(tx, actor)
  if (!(await stillHasPermission(tx, actor, permission, projectId)))
    throw notPermitted(`requires ${describeRequirement(permissions[permission])}`)
}

/** Returns true if the caller's role still grants the permission in the project. */
export async function stillHasPermission(
  tx: Tx,
  actor: Actor,
  permission: Permission,
  projectId: string,
): Promise<boolean> {
  if (await isStillAdministrator(tx, actor.user.id)) return true
  const { project: requiredRole } = permissions[permission]
  const role = await lockProjectRole(tx, projectId, actor.user.id)
  return requiredRole !== undefined && getProjectRank(role) >= getProjectRank(requiredRole)
}

/** Throws unless the credential is still valid and the caller is still an administrator. */
export async function recheckSystemPermission(tx: Tx, actor: Actor, permission: Permission): Promise<void> {
  await recheckCredential(tx, actor)
  if (!(await isStillAdministrator(tx, actor.user.id)))
    throw notPermitted(`requires ${describeRequirement(permissions[permission])}`)
}

/** Returns true if the user is an active administrator, and locks the user row. */
export async function isStillAdministrator(tx: Tx, userId: string): Promise<boolean> {
  const row = await tx
    .selectFrom('users')
    .select('role')
    .where('id', '=', userId)
    .where(isActive('users'))
    .forShare()
    .executeTakeFirst()
  return row?.role === 'administrator'
}

const isActive = (alias: string): RawBuilder<boolean> => sql.raw<boolean>(buildIsActiveSql(alias))

/** True if the user of a row is active; `table` is a table with a `user_id`. */
export const isOfActiveUser = (table: string): RawBuilder<boolean> =>
  sql<boolean>`exists (select from users u where u.id = ${sql.ref(`${table}.userId`)} and ${isActive('u')})`

/** Returns the user's role in the project, or null, also for a deactivated user. Locks the membership row. */
export async function lockProjectRole(
  tx: Tx,
  projectId: string,
  userId: string,
): Promise<ProjectRole | null> {
  const row = await tx
    .selectFrom('user2projects')
    .select('role')
    .where('projectId', '=', projectId)
    .where('userId', '=', userId)
    .where(isOfActiveUser('user2projects'))
    .forShare()
    .executeTakeFirst()
  return (row?.role ?? null) as ProjectRole | null
}
