// Compares effective access with the guard: the rows of a person and of an object must state exactly the permissions
// that the guard grants, for every person and object of a world.
import { call, throughProxy } from '@manager/harness/credentials.ts'
import type { Person } from '@manager/harness/callers.ts'
import { createActor } from '../../src/policy/actor.ts'
import { listPermissionsOn } from '../../src/policy/authorize.ts'
import type { Target } from '../../src/policy/scopes.ts'
import { createLookupRunner } from '../../src/platform/postgres/lookups.ts'
import { derivePermissions, listTargets } from './access-derivation.ts'
import { type AccessRow, listObject, listPerson } from './access-rows.ts'
import type { TestApp } from './app.ts'
import { type AccessWorld, type WorldProject, createRandom, pick } from './access-worlds.ts'

type Scene = {
  service: TestApp
  world: AccessWorld
  /** An administrator outside of the world. */
  admin: Person
  rowsByPerson: ReadonlyMap<string, AccessRow[]>
  random: () => number
  differences: string[]
}
export type Comparison = { checks: number; differences: string[] }

/**
 * Compares everything in a world. `beforeGuard` runs after the rows are read and before the guard is asked; tests use
 * it to make a difference that must be found.
 */
export async function compareWorld(
  service: TestApp,
  admin: Person,
  world: AccessWorld,
  beforeGuard: () => Promise<unknown> = () => Promise.resolve(),
): Promise<Comparison> {
  const rowsByPerson = new Map<string, AccessRow[]>()
  for (const person of world.people)
    rowsByPerson.set(person.id, await listPerson(service, admin, { user: person.id }, 10))
  const scene: Scene = {
    service,
    world,
    admin,
    rowsByPerson,
    random: createRandom(world.seed + 1),
    differences: [],
  }
  await beforeGuard()
  let checks = 0
  for (const compare of [
    compareWithGuard,
    compareWithFrontDoor,
    compareWithProxy,
    compareObjects,
    compareReaders,
  ])
    checks += await compare(scene)
  return { checks, differences: scene.differences.map((line) => `world ${world.seed}: ${line}`) }
}

const format = (values: Iterable<string>): string => [...values].toSorted().join(' ')

/** Compares two lists that can contain a value several times. */
function expectEqual(
  { differences }: Scene,
  what: string,
  actual: Iterable<string>,
  wanted: Iterable<string>,
): number {
  const surplus = [...actual]
  const missing = [...wanted].filter((value) => {
    const index = surplus.indexOf(value)
    if (index !== -1) surplus.splice(index, 1)
    return index === -1
  })
  if (surplus.length > 0 || missing.length > 0)
    differences.push(`${what}: surplus [${surplus.join(', ')}], missing [${missing.join(', ')}]`)
  return 1
}

/** Compares the rows with the permissions that the guard computes for each person and object. */
async function compareWithGuard(scene: Scene): Promise<number> {
  const { service, world, rowsByPerson } = scene
  const { database } = service.world
  const lookUp = createLookupRunner(database.run)
  let checks = 0
  for (const person of world.people) {
    const rows = rowsByPerson.get(person.id) ?? []
    const stored = await service.sql.query<{ role: string }>('select role from users where id = $1', [
      person.id,
    ])
    const user = {
      id: person.id,
      externalName: '',
      externalUsername: '',
      externalEmail: '',
      role: stored.rows[0]?.role ?? '',
    }
    const origin = { ipAddress: '', userAgent: '', tokenId: null, traceId: undefined }
    const actor = createActor({ db: database.db, lookUp, scopes: {} }, user, origin)
    // The gate rejects a deactivated person before the guard reads the roles.
    const listGranted = async (target: Target): Promise<readonly string[]> =>
      person.isActive ? listPermissionsOn(actor, target) : []
    for (const { field, ...target } of listTargets(world))
      checks += expectEqual(
        scene,
        `${person.name} on ${field}`,
        derivePermissions(rows, target),
        await listGranted(target),
      )
    for (const { project, tenant, application, scope, permissions: listed } of rows)
      if (project !== null)
        checks += expectEqual(
          scene,
          `row of ${person.name} in ${scope} ${tenant} ${application}`,
          listed,
          await listGranted({
            projectId: project,
            tenantId: tenant,
            applicationId: application,
          }),
        )
  }
  return checks
}

/** Compares the rows of one person with `myPermissions` of every object, requested by that person. */
async function compareWithFrontDoor(scene: Scene): Promise<number> {
  const { service, world, rowsByPerson, random } = scene
  const person = pick(random, world.people)
  if (!person.isActive) return expectRejection(scene, person)
  const rows = rowsByPerson.get(person.id) ?? []
  const targets = listTargets(world)
  for (const { field, ...target } of targets) {
    const derived = derivePermissions(rows, target)
    const view = field.startsWith('project')
      ? 'PROJECT_VIEW'
      : field.startsWith('tenant')
        ? 'TENANT_READ'
        : 'APPLICATION_READ'
    const { data } = await service.query(person, `{ found: ${field} { myPermissions } }`)
    const listed = (data?.found?.myPermissions ?? []) as string[]
    expectEqual(scene, `${person.name} asks for ${field}`, derived.has(view) ? derived : [], listed)
  }
  const own = await listPerson(service, person, { user: person.id }, 1)
  // People may not see a tenant whose role lacks apps.read, although they have the role.
  const describe = (row: AccessRow): string =>
    `${row.scope} ${row.project} ${row.role} ${format(row.permissions)} ${row.reasons}`
  expectEqual(scene, `own rows of ${person.name}`, own.map(describe), rows.map(describe))
  return targets.length + 1
}

/** A deactivated person gets no answer at all. */
async function expectRejection(scene: Scene, person: Person): Promise<number> {
  const { data } = await scene.service.query(person, '{ me { id } }')
  return expectEqual(scene, `${person.name} is deactivated`, [], data === null ? [] : ['me'])
}

/** Compares the applications of one person with the answers that the proxy receives. */
async function compareWithProxy(scene: Scene): Promise<number> {
  const { service, world, rowsByPerson, random } = scene
  const person = pick(random, world.people)
  const rows = rowsByPerson.get(person.id) ?? []
  const applications = world.projects.flatMap((project) => project.applications)
  for (const { id, slug, projectId } of applications) {
    const { status, body } = await call(service.url, '/api/validate-oauth-user', throughProxy(), {
      user_id: person.id,
      application_id: id,
    })
    if (!person.isActive) {
      expectEqual(
        scene,
        `${person.name} uses ${slug}`,
        rows.flatMap((row) => row.applicationRole ?? []),
        [],
      )
      const { application } = body as { application?: { has_access: boolean } }
      expectEqual(
        scene,
        `${person.name} is deactivated`,
        application?.has_access === true ? ['access'] : [],
        [],
      )
      continue
    }
    if (status !== 200) throw new Error(`validate-oauth-user returned ${status}: ${JSON.stringify(body)}`)
    const find = (scope: string): AccessRow | undefined =>
      rows.find(
        (row) =>
          row.scope === scope &&
          (row.project === null || row.project === projectId) &&
          (row.application === null || row.application === id),
      )
    const deciding = find('SYSTEM') ?? find('APPLICATION') ?? find('PROJECT') ?? find('TENANT_APPLICATION')
    const isCovered = find('SYSTEM') !== undefined || find('PROJECT') !== undefined
    const tenants = isCovered
      ? world.pairs.filter((pair) => pair.enabled && pair.applicationId === id).map((pair) => pair.tenantId)
      : rows
          .filter((row) => row.scope === 'TENANT_APPLICATION' && row.application === id)
          .map(({ tenant }) => tenant ?? '')
    const role = deciding?.applicationRole ?? null
    const access = body.application as {
      has_access: boolean
      role: string | null
      available_tenants: { id: string }[]
    }
    expectEqual(
      scene,
      `${person.name} uses ${slug}`,
      [String(role !== null), String(role), ...tenants],
      [
        String(access.has_access),
        String(access.role),
        ...access.available_tenants.map((tenant) => tenant.id),
      ],
    )
  }
  return applications.length
}

const listObjects = (project: WorldProject): [kind: string, id: string][] => [
  ['project', project.id],
  ...project.tenants.map(({ id }): [string, string] => ['tenant', id]),
  ...project.applications.map(({ id }): [string, string] => ['application', id]),
]

/** Returns the rows that concern an object, according to the rows of all people. */
const selectRows = ({ rowsByPerson }: Scene, projectId: string, kind: string, id: string): AccessRow[] =>
  [...rowsByPerson.values()].flat().filter((row) => {
    if (row.project === null) return true
    if (row.project !== projectId) return false
    if (row.scope === 'PROJECT') return true
    if (kind === 'project') return row.scope !== 'TENANT_APPLICATION'
    return kind === 'tenant' ? row.scope === 'TENANT' && row.tenant === id : row.application === id
  })

/** Compares the rows of every object with the rows of all people. */
async function compareObjects(scene: Scene): Promise<number> {
  const { service, admin, world, random } = scene
  let checks = 0
  for (const project of world.projects)
    for (const [kind, id] of listObjects(project)) {
      // The size of the pages must not change the rows.
      const rows = await listObject(service, admin, { [kind]: id }, pick(random, [1, 10, 100]))
      checks += expectEqual(
        scene,
        `who can reach ${kind} ${id}`,
        rows
          .filter(({ user }) => world.people.some((person) => person.id === user))
          .map((row) => JSON.stringify(row)),
        selectRows(scene, project.id, kind, id).map((row) => JSON.stringify(row)),
      )
    }
  return checks
}

/** Compares what one person sees of the others with the rights of this person. */
async function compareReaders(scene: Scene): Promise<number> {
  const { service, world, rowsByPerson, random } = scene
  const readers = world.people.filter(({ role, isActive }) => role === 'user' && isActive)
  if (readers.length === 0) return 0
  const reader = pick(random, readers)
  const rights = rowsByPerson.get(reader.id) ?? []
  const mayRead = (target: Target): boolean => derivePermissions(rights, target).has('ACCESS_READ')
  let checks = 0
  const describe = (row: AccessRow): string =>
    `${row.user} ${row.scope} ${row.project} ${row.reasons.split(' ').at(-1)}`
  for (const [userId, rows] of rowsByPerson) {
    if (userId === reader.id) continue
    const visible = rows.filter(
      ({ project, tenant }) =>
        project !== null &&
        (mayRead({ projectId: project }) ||
          (tenant !== null && mayRead({ projectId: project, tenantId: tenant }))),
    )
    const seen = await listPerson(service, reader, { user: userId }, 20)
    // A reader of a tenant sees its applications even if a project role of the person covers them.
    const isTenantOnly = ({ project, scope }: AccessRow): boolean =>
      scope === 'TENANT_APPLICATION' && project !== null && !mayRead({ projectId: project })
    checks += expectEqual(
      scene,
      `${reader.name} sees ${userId}`,
      seen.filter((row) => !isTenantOnly(row)).map(describe),
      visible.filter((row) => !isTenantOnly(row)).map(describe),
    )
  }
  for (const project of world.projects)
    for (const [kind, id] of listObjects(project)) {
      const target = { projectId: project.id, ...(kind === 'project' ? {} : { [`${kind}Id`]: id }) }
      const isProjectReader = mayRead({ projectId: project.id })
      const visible = selectRows(scene, project.id, kind, id).filter(
        ({ scope }) => scope !== 'SYSTEM' && (scope !== 'PROJECT' || isProjectReader),
      )
      const seen = await listObject(service, reader, { [kind]: id }, 20)
      checks += expectEqual(
        scene,
        `${reader.name} asks who can reach ${kind} ${id}`,
        seen.map((row) => `${row.user} ${row.scope}`),
        mayRead(target) ? visible.map((row) => `${row.user} ${row.scope}`) : [],
      )
    }
  return checks
}
