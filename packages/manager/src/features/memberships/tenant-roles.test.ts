import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { useProject } from '../../../test/kit/project.ts'
import { seedMember, seedTenant, seedUser } from '@manager/harness/seed.ts'

const { service, admin, project } = useProject()

const everything = ['apps.read', 'apps.configure', 'members', 'invites']

const create = (tenantId: string, name: string, permissions: string[]) =>
  service.query(
    admin,
    `mutation($tenantId: ID!, $input: CreateTenantRoleDefinitionInput!) {
      createTenantRoleDefinition(tenantId: $tenantId, input: $input) { id name permissions seeded tenant { id } }
    }`,
    { tenantId, input: { name, permissions } },
  )

const update = (id: string, input: { name?: string; permissions?: string[] }) =>
  service.query(
    admin,
    `mutation($id: ID!, $input: UpdateTenantRoleDefinitionInput!) {
      updateTenantRoleDefinition(id: $id, input: $input) { id name permissions seeded }
    }`,
    { id, input },
  )

const remove = (id: string) =>
  service.query(admin, 'mutation($id: ID!) { deleteTenantRoleDefinition(id: $id) }', { id })

const addMember = (tenantID: string, person: Person, roleName: string) =>
  service.query(
    admin,
    `mutation($tenantID: ID!, $userID: ID!, $roleName: String!) {
      addUserToTenant(tenantID: $tenantID, userID: $userID, roleName: $roleName) { id roleName }
    }`,
    { tenantID, userID: person.id, roleName },
  )

type Role = { id: string; name: string; permissions: string[] }

const rolesOf = async (tenantId: string, caller = admin): Promise<Role[]> => {
  const { data, error } = await service.query(
    caller,
    `query($tenantId: ID!) {
      tenantRoleDefinitions(tenantId: $tenantId, order: {field: "name"}) { id name permissions }
    }`,
    { tenantId },
  )
  expect(error).toBeNull()
  return data.tenantRoleDefinitions as Role[]
}

const roleNamed = async (tenantId: string, name: string): Promise<Role> => {
  const found = (await rolesOf(tenantId)).find((role) => role.name === name)
  expect(found).toBeDefined()
  return found as Role
}

/** Creates a tenant without members in the main project. */
const newTenant = async (slug: string): Promise<string> => {
  const id = randomUUID()
  await seedTenant(service.sql, project.id, id, slug)
  return id
}

describe('tenant role definitions', () => {
  test('[tenant-roles.seeded] [tenant-roles.query] a new tenant has member, admin and owner with their permissions', async () => {
    const created = await service.query(
      admin,
      'mutation($id: ID!) { createTenant(projectId: $id, input: {name: "Fresh", slug: "fresh"}) { id } }',
      { id: project.id },
    )
    const tenantId = created.data.createTenant.id as string
    const { data } = await service.query(
      admin,
      `query($tenantId: ID!) {
        tenantRoleDefinitions(tenantId: $tenantId) { name permissions seeded tenant { id } }
      }`,
      { tenantId },
    )
    const seeded = (name: string, permissions: string[]) => ({
      name,
      permissions,
      seeded: true,
      tenant: { id: tenantId },
    })
    expect(data.tenantRoleDefinitions).toHaveLength(3)
    expect(data.tenantRoleDefinitions).toEqual(
      expect.arrayContaining([
        seeded('member', ['apps.read']),
        seeded('admin', everything),
        seeded('owner', everything),
      ]),
    )
  })

  test('[tenant-roles.query] lists the definitions of that tenant and of no other', async () => {
    const [tenantId, neighbour] = [await newTenant('asked'), await newTenant('not-asked')]
    await create(tenantId, 'auditor', ['apps.read'])
    await create(neighbour, 'cleaner', [])
    expect((await rolesOf(tenantId)).map(({ name }) => name)).toEqual(['admin', 'auditor', 'member', 'owner'])
    const unknown = await service.query(admin, '{ tenantRoleDefinitions(tenantId: "nothing") { id } }')
    expect(unknown.error).toBe('tenant not found')
  })

  test('[tenant-roles.vocabulary] each of the four permissions is taken, alone and together, and none at all', async () => {
    const tenantId = await newTenant('words')
    for (const [index, permissions] of [[], ...everything.map((word) => [word]), everything].entries()) {
      const { data } = await create(tenantId, `words-${index}`, permissions)
      expect(data.createTenantRoleDefinition.permissions).toEqual(permissions)
    }
  })

  test('[tenant-roles.vocabulary] any other permission is refused, on create and on update', async () => {
    const tenantId = await newTenant('other-words')
    const { id } = (await create(tenantId, 'plain', ['apps.read'])).data.createTenantRoleDefinition
    const refusal = 'permissions must be one of apps.read, apps.configure, members, invites'
    for (const word of ['', '*', 'apps', 'apps.write', 'Members', 'members ', 'owner', 'apps.read,members']) {
      expect((await create(tenantId, 'odd', ['apps.read', word])).error).toBe(refusal)
      expect((await update(id, { permissions: [word] })).error).toBe(refusal)
    }
    expect((await rolesOf(tenantId)).map(({ name }) => name)).not.toContain('odd')
    expect((await roleNamed(tenantId, 'plain')).permissions).toEqual(['apps.read'])
  })

  test('[tenant-roles.create] adds a definition that memberships of that tenant, and of no other, can use', async () => {
    const [tenantId, neighbour] = [await newTenant('creating'), await newTenant('beside')]
    const person = await seedUser(service.sql, 'auditor')
    const early = await addMember(tenantId, person, 'auditor')
    expect(early.error).toBe('roleName auditor is not a role definition of this tenant')
    const created = await create(tenantId, 'auditor', ['apps.read', 'invites'])
    expect(created.data.createTenantRoleDefinition).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'auditor',
      permissions: ['apps.read', 'invites'],
      seeded: false,
      tenant: { id: tenantId },
    })
    expect((await addMember(tenantId, person, 'auditor')).data.addUserToTenant.roleName).toBe('auditor')
    expect((await addMember(neighbour, person, 'auditor')).error).toContain('is not a role definition')
  })

  test('[tenant-roles.create] a name the tenant has already, an empty and a long one are refused', async () => {
    const tenantId = await newTenant('naming')
    await create(tenantId, 'twice', [])
    for (const name of ['twice', 'owner', 'member']) {
      const answer = await create(tenantId, name, everything)
      expect(answer.errors[0]?.extensions?.code).toBe('conflict')
    }
    for (const name of ['', ' ', 'x'.repeat(101)])
      expect((await create(tenantId, name, [])).error).toContain('name must have 1 to 100 characters')
    expect((await create(randomUUID(), 'x', [])).error).toBe('tenant not found')
    expect((await roleNamed(tenantId, 'member')).permissions).toEqual(['apps.read'])
  })

  test("[tenant-roles.update] holders' reach follows on the next request, up and down", async () => {
    const tenantId = await newTenant('following')
    const holder = await seedUser(service.sql, 'holder')
    const { id } = (await create(tenantId, 'changing', ['apps.read'])).data.createTenantRoleDefinition
    await seedMember(service.sql, holder, 'changing', { projectId: project.id, tenantId })
    const reach = async () => ({
      tenant: (
        await service.query(holder, 'query($id: ID!) { tenant(projectId: $id, slug: "following") { id } }', {
          id: project.id,
        })
      ).error,
      members: (
        await service.query(holder, 'query($id: ID!) { user2tenants(tenant: $id) { id } }', { id: tenantId })
      ).error,
    })
    const refused = expect.stringContaining('not permitted') as string
    expect(await reach()).toEqual({ tenant: null, members: refused })
    const changed = await update(id, { permissions: ['members', 'apps.read'] })
    expect(changed.data.updateTenantRoleDefinition).toEqual({
      id,
      name: 'changing',
      permissions: ['members', 'apps.read'],
      seeded: false,
    })
    expect(await reach()).toEqual({ tenant: null, members: null })
    await update(id, { permissions: ['members'] })
    expect(await reach()).toEqual({ tenant: 'tenant not found', members: null })
    await update(id, { permissions: [] })
    expect(await reach()).toEqual({ tenant: 'tenant not found', members: 'tenant not found' })
  })

  test('[tenant-roles.update] a new name goes to the memberships; a name in use is refused', async () => {
    const tenantId = await newTenant('renaming')
    const holder = await seedUser(service.sql, 'renamed-holder')
    const { id } = (await create(tenantId, 'old', ['apps.read'])).data.createTenantRoleDefinition
    const memberId = (await addMember(tenantId, holder, 'old')).data.addUserToTenant.id as string
    const renamed = await update(id, { name: 'new' })
    expect(renamed.data.updateTenantRoleDefinition).toMatchObject({ name: 'new', permissions: ['apps.read'] })
    const member = await service.query(
      admin,
      'query($tenant: ID!, $id: ID!) { user2tenant(tenant: $tenant, id: $id) { roleName } }',
      { tenant: tenantId, id: memberId },
    )
    expect(member.data.user2tenant.roleName).toBe('new')
    expect((await update(id, { name: 'owner' })).errors[0]?.extensions?.code).toBe('conflict')
    expect((await update(randomUUID(), { name: 'x' })).error).toBe('tenant role definition not found')
  })

  test('[tenant-roles.update] a seeded role keeps its name', async () => {
    const tenantId = await newTenant('seeds')
    for (const name of ['member', 'admin', 'owner']) {
      const { id } = await roleNamed(tenantId, name)
      const answer = await update(id, { name: `${name}-2` })
      expect(answer.errors[0]?.extensions?.code).toBe('conflict')
      expect(answer.data).toBeNull()
    }
    expect((await rolesOf(tenantId)).map(({ name }) => name)).toEqual(['admin', 'member', 'owner'])
  })

  test('[tenant-roles.update] owner always holds every permission; member and admin may change', async () => {
    const tenantId = await newTenant('powers')
    const owner = await roleNamed(tenantId, 'owner')
    for (const permissions of [[], ['apps.read'], ['apps.read', 'members']])
      expect((await update(owner.id, { permissions })).error).toBe(
        'the permissions of the role owner cannot be changed',
      )
    expect((await roleNamed(tenantId, 'owner')).permissions).toEqual(everything)
    for (const name of ['member', 'admin']) {
      const { id } = await roleNamed(tenantId, name)
      const { data } = await update(id, { permissions: ['invites'] })
      expect(data.updateTenantRoleDefinition.permissions).toEqual(['invites'])
    }
  })

  test('[tenant-roles.delete] removes a definition; afterwards nobody can be given it', async () => {
    const tenantId = await newTenant('deleting')
    const person = await seedUser(service.sql, 'late')
    const { id } = (await create(tenantId, 'gone', [])).data.createTenantRoleDefinition
    expect((await remove(id)).data).toEqual({ deleteTenantRoleDefinition: true })
    expect((await remove(id)).error).toBe('tenant role definition not found')
    expect((await rolesOf(tenantId)).map(({ name }) => name)).toEqual(['admin', 'member', 'owner'])
    expect((await addMember(tenantId, person, 'gone')).error).toContain('is not a role definition')
  })

  test('[tenant-roles.delete] a seeded definition is refused, even when nobody holds it', async () => {
    const tenantId = await newTenant('staying')
    for (const { id, name } of await rolesOf(tenantId)) {
      const answer = await remove(id)
      expect(answer.error).toBe(`the role ${name} is seeded and cannot be deleted`)
      expect(answer.data).toBeNull()
    }
    expect(await rolesOf(tenantId)).toHaveLength(3)
  })

  test('[tenant-roles.delete] a definition in use is refused until its last holder has another role', async () => {
    const tenantId = await newTenant('using')
    const holder = await seedUser(service.sql, 'user-of-role')
    const { id } = (await create(tenantId, 'used', ['apps.read'])).data.createTenantRoleDefinition
    const memberId = (await addMember(tenantId, holder, 'used')).data.addUserToTenant.id as string
    const refused = await remove(id)
    expect(refused.error).toBe('the role definition is in use; give its members another role first')
    expect(refused.errors[0]?.extensions?.code).toBe('conflict')
    expect((await roleNamed(tenantId, 'used')).permissions).toEqual(['apps.read'])
    await service.query(
      admin,
      'mutation($id: ID!) { updateUserTenantRole(id: $id, roleName: "member") { id } }',
      { id: memberId },
    )
    expect((await remove(id)).data).toEqual({ deleteTenantRoleDefinition: true })
  })

  test('renaming a role while its holder changes memberships never waits in a circle', async () => {
    const tenantId = await newTenant('circling')
    const holder = await seedUser(service.sql, 'holder-in-circle')
    const { id } = (await create(tenantId, 'turning-0', everything)).data.createTenantRoleDefinition
    await addMember(tenantId, holder, 'turning-0')
    const errors: string[] = []
    for (let round = 1; round <= 40; round++) {
      const newcomer = await seedUser(service.sql, `newcomer-${round}`)
      const grant = `mutation { addUserToTenant(tenantID: "${tenantId}", userID: "${newcomer.id}", roleName: "member") { id } }`
      const answers = await Promise.all([
        update(id, { name: `turning-${round}` }),
        service.query(holder, grant),
      ])
      errors.push(...answers.flatMap(({ error }) => error ?? []))
    }
    expect(errors).toEqual([])
  })
})
