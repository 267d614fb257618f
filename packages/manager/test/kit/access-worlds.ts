// Creates small random worlds of people, projects, tenants with their own roles, applications and memberships. A seed
// determines everything except ids.
import { randomUUID } from 'node:crypto'
import type { Person } from '@manager/harness/callers.ts'
import type { Pool } from 'pg'
import { applicationRoles, projectRoles, tenantPermissions } from '../../src/policy/roles.ts'

type WorldTenant = { id: string; slug: string; projectId: string; roles: Record<string, string[]> }
type WorldApplication = { id: string; slug: string; projectId: string }
export type WorldProject = {
  id: string
  slug: string
  tenants: WorldTenant[]
  applications: WorldApplication[]
}
type WorldPair = {
  id: string
  projectId: string
  tenantId: string
  applicationId: string
  enabled: boolean
}
type WorldMembership = {
  id: string
  userId: string
  projectId: string
  tenantId: string | null
  applicationId: string | null
  role: string
}
export type AccessWorld = {
  seed: number
  people: (Person & { role: 'user' | 'administrator'; isActive: boolean })[]
  projects: WorldProject[]
  pairs: WorldPair[]
  memberships: WorldMembership[]
}

/** Returns a generator of numbers from 0 to 1 (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Creates a world and inserts it into the database. */
export async function createAccessWorld(sql: Pool, seed: number): Promise<AccessWorld> {
  const world = buildWorld(seed)
  await insertWorld(sql, world)
  return world
}

/** Returns an entry of the list. */
export const pick = <T>(random: () => number, list: readonly T[]): T =>
  list[Math.floor(random() * list.length)] as T

function buildWorld(seed: number): AccessWorld {
  const random = createRandom(seed)
  const chance = (probability: number): boolean => random() < probability
  const times = <T>(most: number, create: (index: number) => T): T[] =>
    Array.from({ length: 1 + Math.floor(random() * most) }, (_, index) => create(index))
  const tag = randomUUID().slice(0, 8)
  const people = times(4, (index) => ({
    id: randomUUID(),
    name: `p${index}-${tag}`,
    email: `p${index}-${tag}@example.com`,
    role: chance(0.15) ? ('administrator' as const) : ('user' as const),
    isActive: chance(0.85),
  }))
  const projects = times(2, (index): WorldProject => {
    const [id, slug] = [randomUUID(), `w${index}-${tag}`]
    return {
      id,
      slug,
      tenants: times(3, (tenant) => ({
        id: randomUUID(),
        slug: `t${tenant}-${slug}`,
        projectId: id,
        // A role can hold any of the permissions, or none.
        roles: Object.fromEntries(
          times(3, (role) => [`role-${role}`, tenantPermissions.filter(() => chance(0.5))]),
        ),
      })),
      applications: times(3, (application) => ({
        id: randomUUID(),
        slug: `a${application}-${slug}`,
        projectId: id,
      })),
    }
  })
  const pairs = projects.flatMap(({ id: projectId, tenants, applications }) =>
    tenants.flatMap(({ id: tenantId }) =>
      applications
        .filter(() => chance(0.7))
        .map(({ id: applicationId }) => ({
          id: randomUUID(),
          projectId,
          tenantId,
          applicationId,
          enabled: chance(0.7),
        })),
    ),
  )
  const memberships = people.flatMap(({ id: userId }) =>
    projects.flatMap(({ id: projectId, tenants, applications }): WorldMembership[] => {
      const base = { userId, projectId, tenantId: null, applicationId: null }
      const create = (role: string, ids: Partial<WorldMembership> = {}): WorldMembership => ({
        ...base,
        id: randomUUID(),
        role,
        ...ids,
      })
      return [
        ...(chance(0.35) ? [create(pick(random, projectRoles))] : []),
        ...tenants
          .filter(() => chance(0.4))
          .map(({ id: tenantId, roles }) => create(pick(random, Object.keys(roles)), { tenantId })),
        ...applications
          .filter(() => chance(0.3))
          .map(({ id: applicationId }) => create(pick(random, applicationRoles), { applicationId })),
      ]
    }),
  )
  return { seed, people, projects, pairs, memberships }
}

/** Inserts the rows of a world, with one statement for each table. */
async function insertWorld(sql: Pool, world: AccessWorld): Promise<void> {
  const { people, projects, pairs, memberships } = world
  const tenants = projects.flatMap((project) => project.tenants)
  const insert = (table: string, columns: string, rows: readonly object[]): Promise<unknown> =>
    sql.query(
      `insert into ${table} (${columns}) select ${columns} from json_populate_recordset(null::${table}, $1)`,
      [JSON.stringify(rows)],
    )
  await insert(
    'users',
    'id, external_name, external_username, external_email, role, deactivated_by_administrator_at',
    people.map(({ id, name, email, role, isActive }) => ({
      id,
      external_name: name,
      external_username: email,
      external_email: email,
      role,
      deactivated_by_administrator_at: isActive ? null : new Date().toISOString(),
    })),
  )
  await insert(
    'projects',
    'id, name, slug',
    projects.map(({ id, slug }) => ({ id, name: slug, slug })),
  )
  await insert(
    'tenants',
    'id, project_id, name, slug',
    tenants.map(({ id, slug, projectId }) => ({ id, project_id: projectId, name: slug, slug })),
  )
  await insert(
    'tenant_role_definitions',
    'id, project_id, tenant_id, name, permissions, seeded',
    tenants.flatMap(({ id, projectId, roles }) =>
      Object.entries(roles).map(([name, permissions]) => ({
        id: randomUUID(),
        project_id: projectId,
        tenant_id: id,
        name,
        permissions,
        seeded: false,
      })),
    ),
  )
  await insert(
    'applications',
    'id, project_id, name, slug',
    projects.flatMap(({ applications }) =>
      applications.map(({ id, slug, projectId }) => ({ id, project_id: projectId, name: slug, slug })),
    ),
  )
  await insert(
    'tenant2applications',
    'id, project_id, tenant_id, application_id, enabled',
    pairs.map(({ id, projectId, tenantId, applicationId, enabled }) => ({
      id,
      project_id: projectId,
      tenant_id: tenantId,
      application_id: applicationId,
      enabled,
    })),
  )
  const rows = memberships.map(({ id, userId, projectId, tenantId, applicationId, role }) => ({
    id,
    user_id: userId,
    project_id: projectId,
    tenant_id: tenantId,
    application_id: applicationId,
    role,
    role_name: role,
  }))
  await insert(
    'user2projects',
    'id, project_id, user_id, role',
    rows.filter((row) => row.tenant_id === null && row.application_id === null),
  )
  await insert(
    'user2tenants',
    'id, project_id, tenant_id, user_id, role_name',
    rows.filter((row) => row.tenant_id !== null),
  )
  await insert(
    'user2applications',
    'id, project_id, application_id, user_id, role',
    rows.filter((row) => row.application_id !== null),
  )
}

/** Demotes the administrators of a world: administrators have access to the objects of all other worlds, too. */
export const retireWorld = (sql: Pool, { people }: AccessWorld): Promise<unknown> =>
  sql.query("update users set role = 'user' where id = any($1::uuid[])", [people.map(({ id }) => id)])
