// Represents the caller of a request with the caller's roles. Memberships and policy targets are read on first use and
// cached for the request.
import { sql } from 'kysely'
import type { Db } from '../platform/postgres/handles.ts'
import { buildIsActiveSql } from '../platform/postgres/active-users.ts'
import type { RunLookup } from '../platform/postgres/lookups.ts'
import { AppError } from '../platform/errors.ts'
import { type RolesInProject, readRoles } from './roles-in-project.ts'
import type { ProjectRole } from './roles.ts'
import type { ScopeDefinition, Scopes, Target } from './scopes.ts'

export type ActorUser = {
  id: string
  externalName: string
  externalUsername: string
  externalEmail: string
  role: string
}

export type Actor = {
  user: ActorUser
  principal: { type: 'user'; id: string }
  /** Id of the presented personal access token; null for a session. */
  tokenId: string | null
  readonly isAdministrator: boolean
  ipAddress: string
  userAgent: string
  /** Trace id of the request, if it is traced. */
  traceId: string | undefined
  /** Returns the caller's roles in a project; concurrent calls share one statement. */
  readRolesIn(projectId: string): Promise<RolesInProject>
  /** Resolves to true if the caller has at least one of the roles in at least one project. */
  hasProjectRole(roles: readonly ProjectRole[]): Promise<boolean>
  /** Clears the cache and reads the system role and the token again; throws if the token is no longer valid. */
  refresh(): Promise<void>
  /** Every object kind that a policy can name. */
  scopes: Scopes
  /** Returns the object that scope and key identify, or null. */
  findTarget(scope: string, key: (string | null)[]): Promise<Target | null>
}

/** Creates the 401 error for a token that was revoked or expired while its request was in flight. */
export const createCredentialEndedError = (): AppError =>
  new AppError('unauthenticated', 'the personal access token was revoked or has expired; create a new one')

/** Creates the 401 error for a person whom an identity provider or an administrator has deactivated. */
export const createDeactivatedError = (): AppError =>
  new AppError('unauthenticated', 'the account of this user is deactivated; ask an administrator')

/** Builds the actor of one request. */
export function createActor(
  { db, lookUp, scopes }: { db: Db; lookUp: RunLookup; scopes: Scopes },
  user: ActorUser,
  origin: Pick<Actor, 'ipAddress' | 'userAgent' | 'tokenId' | 'traceId'>,
): Actor {
  let { role } = user
  const rolesByProject = new Map<string, Promise<RolesInProject>>()
  const targets = createTargets((scope, key) => (scopes[scope] as ScopeDefinition).find(lookUp, key))
  return {
    user,
    principal: { type: 'user', id: user.id },
    get isAdministrator() {
      return role === 'administrator'
    },
    ...origin,
    scopes,
    readRolesIn: (projectId) => {
      let roles = rolesByProject.get(projectId)
      if (roles === undefined) rolesByProject.set(projectId, (roles = readRoles(lookUp, user.id, projectId)))
      return roles
    },
    hasProjectRole: async (roles) => {
      const row = await db.read
        .selectFrom('user2projects')
        .select('id')
        .where('userId', '=', user.id)
        .where('role', 'in', roles)
        .limit(1)
        .executeTakeFirst()
      return row !== undefined
    },
    refresh: async () => {
      rolesByProject.clear()
      targets.clear()
      const row = await db.read
        .selectFrom('users as u')
        .leftJoin('personalAccessTokens as t', (on) => on.on('t.id', '=', origin.tokenId))
        .select([
          'u.role',
          sql<boolean>`t.revoked = false and coalesce(t.expires_at > now(), true)`.as('isUsable'),
          sql<boolean>`${sql.raw(buildIsActiveSql('u'))}`.as('isActive'),
        ])
        .where('u.id', '=', user.id)
        .executeTakeFirst()
      if (origin.tokenId !== null && row?.isUsable !== true) throw createCredentialEndedError()
      if (row?.isActive === false) throw createDeactivatedError()
      role = row?.role ?? 'user'
    },
    findTarget: targets.find,
  }
}

type FindTarget = Actor['findTarget']

/**
 * Keeps the targets of one request. The project, tenant and application of a target are stored too. They need no
 * lookup, because foreign keys prove that they exist.
 */
function createTargets(read: FindTarget): { find: FindTarget; clear: () => void } {
  const targets = new Map<string, Promise<Target | null>>()
  const keep = (scope: string, id: string, target: Target): void => {
    const name = nameTarget(scope, [id])
    if (!targets.has(name)) targets.set(name, Promise.resolve(target))
  }
  const readAndKeep: FindTarget = async (scope, key) => {
    const target = await read(scope, key)
    if (target === null) return null
    const { projectId, tenantId = null, applicationId = null } = target
    keep('PROJECT', projectId, { projectId })
    if (tenantId !== null) keep('TENANT', tenantId, { projectId, tenantId })
    if (applicationId !== null) keep('APPLICATION', applicationId, { projectId, applicationId })
    return target
  }
  return {
    find: (scope, key) => {
      const name = nameTarget(scope, key)
      let target = targets.get(name)
      if (target === undefined) targets.set(name, (target = readAndKeep(scope, key)))
      return target
    },
    clear: () => targets.clear(),
  }
}

const nameTarget = (scope: string, key: (string | null)[]): string => `${scope} ${JSON.stringify(key)}`
