// Represents the caller of a request with the caller's roles. Memberships are read on first use and cached
// for the request.
import DataLoader from 'dataloader'
import { sql } from 'kysely'
import type { Db, Reads } from '../platform/postgres/handles.ts'
import { AppError } from '../platform/errors.ts'
import type { ApplicationRole, ProjectRole, TenantPermission } from './roles.ts'
import type { ScopeDefinition, Scopes, Target } from './scopes.ts'

export type ActorUser = {
  id: string
  externalName: string
  externalUsername: string
  externalEmail: string
  role: string
}

/** Roles and permissions of the caller in one project. */
export type RolesInProject = {
  projectRole: ProjectRole | null
  tenants: Map<string, ReadonlySet<TenantPermission>>
  /** Names of the caller's tenant roles, by tenant id. */
  tenantRoles: Map<string, string>
  applications: Map<string, ApplicationRole>
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
  rolesIn(projectId: string): Promise<RolesInProject>
  /** Resolves to true if the caller has one of the roles in at least one project. */
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

/** Builds the actor of one request. */
export function createActor(
  { db, scopes }: { db: Db; scopes: Scopes },
  user: ActorUser,
  origin: Pick<Actor, 'ipAddress' | 'userAgent' | 'tokenId' | 'traceId'>,
): Actor {
  let { role } = user
  const rolesByProject = new DataLoader<string, RolesInProject>((projectIds) =>
    loadRoles(db.read, user.id, projectIds),
  )
  const targets = new Map<string, DataLoader<(string | null)[], Target | null, string>>()
  return {
    user,
    principal: { type: 'user', id: user.id },
    get isAdministrator() {
      return role === 'administrator'
    },
    ...origin,
    scopes,
    rolesIn: (projectId) => rolesByProject.load(projectId),
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
      rolesByProject.clearAll()
      targets.clear()
      const row = await db.read
        .selectFrom('users as u')
        .leftJoin('personalAccessTokens as t', (on) => on.on('t.id', '=', origin.tokenId))
        .select([
          'u.role',
          sql<boolean>`t.revoked = false and coalesce(t.expires_at > now(), true)`.as('isUsable'),
        ])
        .where('u.id', '=', user.id)
        .executeTakeFirst()
      if (origin.tokenId !== null && row?.isUsable !== true) throw createCredentialEndedError()
      role = row?.role ?? 'user'
    },
    findTarget: (scope, key) => {
      let loader = targets.get(scope)
      if (loader === undefined) {
        loader = new DataLoader((keys) => (scopes[scope] as ScopeDefinition).find(db.read, [...keys]), {
          cacheKeyFn: (k) => JSON.stringify(k),
        })
        targets.set(scope, loader)
      }
      return loader.load(key)
    },
  }
}

async function loadRoles(
  db: Reads,
  userId: string,
  projectIds: readonly string[],
): Promise<RolesInProject[]> {
  const rows = await db
    .selectFrom('user2projects')
    .select(['projectId', 'role', (eb) => eb.val<string | null>(null).as('thing')])
    .select((eb) => [eb.val('project').as('kind'), eb.val<string[] | null>(null).as('permissions')])
    .where('userId', '=', userId)
    .where('projectId', 'in', projectIds)
    .unionAll((eb) =>
      eb
        .selectFrom('user2tenants as m')
        .innerJoin('tenantRoleDefinitions as d', (on) =>
          on.onRef('d.tenantId', '=', 'm.tenantId').onRef('d.name', '=', 'm.roleName'),
        )
        .select(['m.projectId', 'm.roleName as role', 'm.tenantId as thing'])
        .select((inner) => [inner.val('tenant').as('kind'), 'd.permissions'])
        .where('m.userId', '=', userId)
        .where('m.projectId', 'in', projectIds),
    )
    .unionAll((eb) =>
      eb
        .selectFrom('user2applications as a')
        .select(['a.projectId', 'a.role', 'a.applicationId as thing'])
        .select((inner) => [
          inner.val('application').as('kind'),
          inner.val<string[] | null>(null).as('permissions'),
        ])
        .where('a.userId', '=', userId)
        .where('a.projectId', 'in', projectIds),
    )
    .execute()
  const byProject = new Map<string, RolesInProject>()
  for (const id of projectIds)
    byProject.set(id, {
      projectRole: null,
      tenants: new Map(),
      tenantRoles: new Map(),
      applications: new Map(),
    })
  for (const row of rows) {
    const roles = byProject.get(row.projectId)
    if (roles === undefined) continue
    if (row.kind === 'project') roles.projectRole = row.role as ProjectRole
    else if (row.thing !== null && row.kind === 'tenant') {
      roles.tenants.set(row.thing, new Set((row.permissions ?? []) as TenantPermission[]))
      roles.tenantRoles.set(row.thing, row.role)
    } else if (row.thing !== null) roles.applications.set(row.thing, row.role as ApplicationRole)
  }
  return projectIds.map((id) => byProject.get(id) as RolesInProject)
}
