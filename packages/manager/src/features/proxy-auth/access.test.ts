// These tests cover access to an application, roles and tenants with a table of cases, a model, and changes through the
// API.
import { randomUUID } from 'node:crypto'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import {
  basicValue,
  call,
  createMachine,
  createToken,
  throughProxy,
  validate,
} from '@manager/harness/credentials.ts'
import { memberCalls } from '../../../test/kit/members.ts'
import { type SeededProject, seedMember, seedProject, seedTenant, seedUser } from '@manager/harness/seed.ts'

type Named = { id: string; name: string }
type Access = { has_access: boolean; role: string | null; available_tenants: Named[] }
/** The memberships of a person, with tenants by id. */
type Memberships = {
  administrator?: boolean
  project?: string | null
  application?: string | null
  tenants?: Record<string, string>
}
const noAccess: Access = { has_access: false, role: null, available_tenants: [] }

let service: TestApp
/** A second process of the same installation. */
let twin: TestApp
let admin: Person
/** The person whose memberships change from case to case. */
let person: Person
let token: string

beforeAll(async () => {
  service = await startTestApp()
  twin = await startTestApp({ database: service.database })
  admin = await seedUser(service.sql, 'admin', 'administrator')
  person = await seedUser(service.sql, 'person')
  token = (await createToken(service, person)).token
})
afterAll(async () => {
  await twin.close()
  await service.close()
})

const oauth = (user: Person, applicationId: string, app = service) =>
  call(app.url, '/api/validate-oauth-user', throughProxy(), {
    user_id: user.id,
    application_id: applicationId,
  })

/** Returns the access of the person, requested in two ways that must agree. */
async function accessTo(applicationId: string): Promise<Access> {
  const [signedIn, byToken] = [
    await oauth(person, applicationId),
    await validate(service.url, `Bearer ${token}`, applicationId),
  ]
  for (const { status, body } of [signedIn, byToken]) {
    expect([status, body.valid, body.user.id]).toEqual([200, true, person.id])
    const available = body.application.available_tenants as Named[]
    expect(body.tenant).toEqual(available.length === 1 ? available[0] : null)
  }
  expect(byToken.body.application).toEqual(signedIn.body.application)
  return signedIn.body.application as Access
}

/** Replaces the memberships of the person. */
async function hold(of: SeededProject, memberships: Memberships): Promise<void> {
  const { sql } = service
  for (const table of ['user2projects', 'user2tenants', 'user2applications'])
    await sql.query(`delete from ${table} where user_id = $1`, [person.id])
  await sql.query('update users set role = $2 where id = $1', [
    person.id,
    memberships.administrator === true ? 'administrator' : 'user',
  ])
  const { project = null, application = null, tenants = {} } = memberships
  const projectId = of.id
  if (project !== null) await seedMember(sql, person, project, { projectId })
  if (application !== null)
    await seedMember(sql, person, application, { projectId, applicationId: of.applicationId })
  for (const [tenantId, role] of Object.entries(tenants))
    await seedMember(sql, person, role, { projectId, tenantId })
}

/** Adds a tenant. The role `watcher` lacks apps.read, and the role `visitor` has only apps.read. */
async function addTenant(of: SeededProject, name: string, enabled: boolean | null): Promise<string> {
  const id = randomUUID()
  await seedTenant(service.sql, of.id, id, `t-${id.slice(0, 8)}`)
  await service.sql.query('update tenants set name = $2 where id = $1', [id, name])
  await service.sql.query(
    `insert into tenant_role_definitions (id, project_id, tenant_id, name, permissions)
     values (gen_random_uuid(), $1, $2, 'watcher', '{apps.configure,members,invites}'),
            (gen_random_uuid(), $1, $2, 'visitor', '{apps.read}')`,
    [of.id, id],
  )
  if (enabled !== null) await enable(of, id, of.applicationId, enabled)
  return id
}
const enable = (of: SeededProject, tenantId: string, applicationId: string, enabled: boolean) =>
  service.sql.query(
    `insert into tenant2applications (id, project_id, tenant_id, application_id, enabled)
     values (gen_random_uuid(), $1, $2, $3, $4)`,
    [of.id, tenantId, applicationId, enabled],
  )
/** Adds an application that is enabled for no tenant. */
async function addApplication(of: SeededProject): Promise<string> {
  const id = randomUUID()
  await service.sql.query(
    `insert into applications (id, project_id, name, slug) values ($1, $2, 'further', $3)`,
    [id, of.id, `further-${id.slice(0, 8)}`],
  )
  return id
}

describe('access to an application', () => {
  let project: SeededProject
  let other: SeededProject
  const ids: Record<string, string> = {}
  const machines = { bearer: '', basic: '' }
  const all = ['alpha', 'beta', 'gamma', 'omega']

  // The application is enabled for alpha, beta, gamma and omega and disabled for `off`. Tenant `none` has no row for
  // it.
  beforeAll(async () => {
    project = await seedProject(service.sql, 'table')
    other = await seedProject(service.sql, 'neighbour')
    await service.sql.query(`update tenants set name = 'omega' where id = $1`, [project.tenantId])
    ids['omega'] = project.tenantId
    for (const name of ['gamma', 'alpha', 'beta']) ids[name] = await addTenant(project, name, true)
    ids['off'] = await addTenant(project, 'off', false)
    ids['none'] = await addTenant(project, 'none', null)
    const login = { username: 'machine', password: 'secret' }
    await createMachine(service, admin, project.environmentId, login)
    machines.basic = basicValue(login.username, login.password)
    machines.bearer = `Bearer ${(await createMachine(service, admin, project.environmentId)).token}`
  })
  const named = (tenants: Record<string, string> = {}): Record<string, string> =>
    Object.fromEntries(Object.entries(tenants).map(([name, role]) => [ids[name] ?? '', role]))
  type Case = [what: string, memberships: Memberships, role: string | null, tenants: string[]]
  const expectAccess = async ([what, memberships, role, tenants]: Case): Promise<void> => {
    await hold(project, { ...memberships, tenants: named(memberships.tenants) })
    const available_tenants = tenants.map((name) => ({ id: ids[name], name }))
    const expected = { has_access: role !== null, role, available_tenants }
    expect([what, await accessTo(project.applicationId)]).toEqual([what, expected])
  }

  test('[proxy-auth.role] [proxy-auth.application] [proxy-auth.tenant] [proxy-auth.no-access] follows from each role by itself', async () => {
    const cases: Case[] = [
      ['nothing', {}, null, []],
      ['administrator', { administrator: true }, 'normal', all],
      ['project readonly', { project: 'readonly' }, 'readonly', all],
      ['project tester', { project: 'tester' }, 'normal', all],
      ['project developer', { project: 'developer' }, 'normal', all],
      ['project maintainer', { project: 'maintainer' }, 'normal', all],
      ['project owner', { project: 'owner' }, 'normal', all],
      ['application readonly', { application: 'readonly' }, 'readonly', []],
      ['application normal', { application: 'normal' }, 'normal', []],
      ['tenant member', { tenants: { beta: 'member' } }, 'normal', ['beta']],
      ['tenant admin', { tenants: { beta: 'admin' } }, 'normal', ['beta']],
      ['tenant owner', { tenants: { beta: 'owner' } }, 'normal', ['beta']],
      ['a role with apps.read alone', { tenants: { beta: 'visitor' } }, 'normal', ['beta']],
      ['a role without apps.read', { tenants: { beta: 'watcher' } }, null, []],
      ['a tenant it is turned off for', { tenants: { off: 'owner' } }, null, []],
      ['a tenant that has no row for it', { tenants: { none: 'owner' } }, null, []],
    ]
    for (const each of cases) await expectAccess(each)
  })

  test('[proxy-auth.role] [proxy-auth.application] [proxy-auth.tenant] of several roles the one nearest to the application decides', async () => {
    const member = { beta: 'member' }
    const cases: Case[] = [
      ['administrator, application', { administrator: true, application: 'readonly' }, 'normal', all],
      ['administrator, project', { administrator: true, project: 'readonly' }, 'normal', all],
      ['administrator, tenant', { administrator: true, tenants: { beta: 'watcher' } }, 'normal', all],
      ['less by the application', { application: 'readonly', project: 'owner' }, 'readonly', all],
      ['more by the application', { application: 'normal', project: 'readonly' }, 'normal', all],
      ['application, member', { application: 'readonly', tenants: member }, 'readonly', ['beta']],
      ['application, watcher', { application: 'readonly', tenants: { beta: 'watcher' } }, 'readonly', []],
      ['application, turned off', { application: 'normal', tenants: { off: 'owner' } }, 'normal', []],
      ['project, owner', { project: 'readonly', tenants: { beta: 'owner' } }, 'readonly', all],
      ['project, watcher', { project: 'tester', tenants: { beta: 'watcher' } }, 'normal', all],
      ['all', { application: 'readonly', project: 'owner', tenants: member }, 'readonly', all],
      ['two tenants', { tenants: { gamma: 'owner', alpha: 'member' } }, 'normal', ['alpha', 'gamma']],
      ['one of them off', { tenants: { off: 'owner', alpha: 'member', none: 'admin' } }, 'normal', ['alpha']],
      ['one as watcher', { tenants: { beta: 'watcher', omega: 'member' } }, 'normal', ['omega']],
    ]
    for (const each of cases) await expectAccess(each)
  })

  test('[proxy-auth.no-access] is not given by roles in another project, nor in another application of this one', async () => {
    const inOther = await seedUser(service.sql, 'in-other')
    const inFurther = await seedUser(service.sql, 'in-further')
    const further = await addApplication(project)
    const { id: projectId, tenantId, applicationId } = other
    for (const where of [{ projectId }, { projectId, tenantId }])
      await seedMember(service.sql, inOther, 'owner', where)
    await seedMember(service.sql, inOther, 'normal', { projectId, applicationId })
    await seedMember(service.sql, inFurther, 'normal', { projectId: project.id, applicationId: further })
    for (const user of [inOther, inFurther]) {
      const { body } = await oauth(user, project.applicationId)
      expect(body.application).toEqual(noAccess)
    }
    // These memberships give access in their own project and application.
    expect((await oauth(inOther, applicationId)).body.application.has_access).toBe(true)
    expect((await oauth(inFurther, further)).body.application.has_access).toBe(true)
  })

  test('[proxy-auth.role] [proxy-auth.application] a machine user has the applications of its project, with every tenant they are enabled for', async () => {
    const further = await addApplication(project)
    const tenants = all.map((name) => ({ id: ids[name], name }))
    for (const header of Object.values(machines)) {
      const ask = async (id: string) => (await validate(service.url, header, id)).body
      const body = await ask(project.applicationId)
      expect(body.application).toEqual({ has_access: true, role: 'normal', available_tenants: tenants })
      expect(body.tenant).toBeNull()
      const alone = { has_access: true, role: 'normal', available_tenants: [] }
      expect((await ask(further)).application).toEqual(alone)
    }
    const elsewhere = await validate(service.url, machines.bearer, other.applicationId)
    expect(elsewhere.body.application).toEqual(noAccess)
  })

  test('is answered by one statement, whatever proves the caller', async () => {
    await hold(project, { application: 'readonly', project: 'owner', tenants: named({ beta: 'member' }) })
    const byHeader = (header: string) => () => validate(service.url, header, project.applicationId)
    const calls = {
      token: byHeader(`Bearer ${token}`),
      machine: byHeader(machines.bearer),
      basic: byHeader(machines.basic),
      oauth: () => oauth(person, project.applicationId),
      catalog: () => call(service.url, `/api/proxy/user/${person.id}/tenants`, throughProxy()),
    }
    for (const [kind, ask] of Object.entries(calls)) {
      expect([kind, (await ask()).status]).toEqual([kind, 200])
      service.statements.length = 0
      expect([kind, (await ask()).status]).toEqual([kind, 200])
      // The last use of a token is written periodically, independently of requests.
      const own = service.statements.filter((text) => !text.includes('last_used_at'))
      expect([kind, own.length]).toEqual([kind, 1])
    }
  })
})

describe('access in random worlds', () => {
  const projectRoles = ['readonly', 'tester', 'developer', 'maintainer', 'owner']
  const readers = ['member', 'admin', 'owner', 'visitor']
  const tenant = fc.record({
    // There are only a few names, so that duplicates occur.
    name: fc.constantFrom('a', 'b', 'c'),
    enabled: fc.constantFrom(true, true, false, null),
    enabledForFurther: fc.boolean(),
    role: fc.option(fc.constantFrom(...readers, 'watcher'), { freq: 2 }),
  })
  const anyWorld = fc.record({
    administrator: fc.constantFrom(false, false, false, false, true),
    project: fc.option(fc.constantFrom(...projectRoles), { freq: 1 }),
    application: fc.constantFrom(null, null, null, 'readonly', 'normal'),
    tenants: fc.array(tenant, { maxLength: 4 }),
  })
  type World = typeof anyWorld extends fc.Arbitrary<infer T> ? T : never
  type Placed = World['tenants'][number] & { id: string }
  const byName = (a: Named, b: Named): number =>
    a.name === b.name ? (a.id < b.id ? -1 : 1) : a.name < b.name ? -1 : 1

  /** Models the documented rules. */
  function model(world: World, tenants: Placed[]): Access {
    const enabled = tenants.filter((each) => each.enabled === true)
    const own = enabled.filter(({ role }) => role !== null && readers.includes(role))
    const roles = [
      world.administrator ? 'normal' : null,
      world.application,
      world.project === null || world.project === 'readonly' ? world.project : 'normal',
      own.length > 0 ? 'normal' : null,
    ]
    const role = roles.find((each) => each !== null) ?? null
    const reached = world.administrator || world.project !== null ? enabled : own
    const available = reached.map(({ id, name }) => ({ id, name })).toSorted(byName)
    return { has_access: role !== null, role, available_tenants: available }
  }
  /** Returns the tenants that the person can choose and the displayed role, according to the documented rules. */
  const catalogOf = (world: World, tenants: Placed[]) =>
    tenants
      .toSorted(byName)
      .map(({ id, role }) => ({ id, role: role !== null && readers.includes(role) ? role : world.project }))
      .filter(({ role }) => role !== null)
  const catalog = async (query = ''): Promise<{ id: string; name: string; role: string }[]> =>
    (await call(service.url, `/api/proxy/user/${person.id}/tenants${query}`, throughProxy())).body.tenants

  let worlds = 0
  const build = async (world: World): Promise<{ project: SeededProject; tenants: Placed[] }> => {
    worlds++
    const project = await seedProject(service.sql, `world-${worlds}`)
    await service.sql.query('delete from tenants where id = $1', [project.tenantId])
    const further = await addApplication(project)
    const tenants: Placed[] = []
    for (const each of world.tenants) {
      const id = await addTenant(project, each.name, each.enabled)
      if (each.enabledForFurther) await enable(project, id, further, true)
      tenants.push({ ...each, id })
    }
    const roles = tenants.flatMap(({ id, role }) => (role === null ? [] : [[id, role] as const]))
    await hold(project, { ...world, tenants: Object.fromEntries(roles) })
    return { project, tenants }
  }

  test('[proxy-auth.role] [proxy-auth.application] [tenant-catalog.list] [tenant-catalog.application] is what the rules say, and the catalog agrees', async () => {
    await fc.assert(
      fc.asyncProperty(anyWorld, async (world) => {
        const { project, tenants } = await build(world)
        const access = await accessTo(project.applicationId)
        expect(access).toEqual(model(world, tenants))
        const forApplication = await catalog(`?application_id=${project.applicationId}`)
        expect(forApplication.map(({ id, name }) => ({ id, name }))).toEqual(access.available_tenants)
        expect((await catalog()).map(({ id, role }) => ({ id, role }))).toEqual(catalogOf(world, tenants))
      }),
      { numRuns: 100, endOnFailure: true },
    )
  }, 120_000)
})

describe('a change of membership', () => {
  const projects = memberCalls('Project', () => service)
  const tenants = memberCalls('Tenant', () => service)
  const applications = memberCalls('Application', () => service)
  let project: SeededProject
  let user: Person

  beforeAll(async () => {
    project = await seedProject(service.sql, 'changing')
    user = await seedUser(service.sql, 'changing')
  })
  /** Returns the role and the number of tenants in the next response, which must be the same in both processes. */
  const seen = async (): Promise<[string | null, number]> => {
    const here = await oauth(user, project.applicationId)
    const there = await oauth(user, project.applicationId, twin)
    expect(there.body).toEqual(here.body)
    const { has_access, role, available_tenants } = here.body.application
    expect(has_access).toBe(role !== null)
    return [role, available_tenants.length]
  }
  const change = async (text: string, variables: Record<string, unknown>): Promise<void> => {
    const { error } = await service.query(admin, `mutation($id: ID!, ${text} { id } }`, variables)
    expect(error).toBeNull()
  }

  test('[proxy-auth.role] [proxy-auth.application] made through the API is seen by the next call, in every process', async () => {
    for (const [calls, of, [first, afterFirst], [second, afterSecond]] of [
      [projects, project.id, ['readonly', ['readonly', 1]], ['maintainer', ['normal', 1]]],
      [applications, project.applicationId, ['normal', ['normal', 0]], ['readonly', ['readonly', 0]]],
      [tenants, project.tenantId, ['member', ['normal', 1]], ['admin', ['normal', 1]]],
    ] as const) {
      expect(await seen()).toEqual([null, 0])
      const { data } = await calls.add(admin, { of, userID: user.id, role: first })
      expect(await seen()).toEqual(afterFirst)
      await calls.update(admin, { id: data.row.id, role: second })
      expect(await seen()).toEqual(afterSecond)
      await calls.remove(admin, { id: data.row.id })
      expect(await seen()).toEqual([null, 0])
    }
  })

  test('[proxy-auth.role] [proxy-auth.application] so are changes of a role definition, of the enabled flag and of the system role', async () => {
    const { data } = await service.query(
      admin,
      `mutation($id: ID!) { made: createTenantRoleDefinition(tenantId: $id, input: {name: "guest", permissions: ["apps.read"]}) { id } }`,
      { id: project.tenantId },
    )
    const added = await tenants.add(admin, { of: project.tenantId, userID: user.id, role: 'guest' })
    expect(await seen()).toEqual(['normal', 1])
    const permit = (permissions: string[]) =>
      change(
        '$permissions: [String!]!) { updateTenantRoleDefinition(id: $id, input: {permissions: $permissions})',
        { id: data.made.id, permissions },
      )
    await permit(['members'])
    expect(await seen()).toEqual([null, 0])
    await permit(['members', 'apps.read'])
    expect(await seen()).toEqual(['normal', 1])
    const turn = (enabled: boolean) =>
      change('$enabled: Boolean!) { updateTenant2Application(id: $id, input: {enabled: $enabled})', {
        id: project.tenant2ApplicationId,
        enabled,
      })
    await turn(false)
    expect(await seen()).toEqual([null, 0])
    await turn(true)
    expect(await seen()).toEqual(['normal', 1])
    await tenants.remove(admin, { id: added.data.row.id })
    const promote = (role: string) =>
      change('$role: String!) { updateUserSystemRole(id: $id, role: $role)', { id: user.id, role })
    await promote('administrator')
    expect(await seen()).toEqual(['normal', 1])
    await promote('user')
    expect(await seen()).toEqual([null, 0])
  })
})
