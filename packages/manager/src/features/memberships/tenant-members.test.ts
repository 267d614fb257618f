import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { expectRefused, memberCalls, uuid } from '../../../test/kit/members.ts'
import { useProject } from '../../../test/kit/project.ts'
import { seedMember, seedProject, seedTenant } from '@manager/harness/seed.ts'

const { service, admin, project, other, person } = useProject({ withOther: true })

const ofTenant = memberCalls('Tenant', () => service)

describe('tenant memberships', () => {
  test('[memberships.tenant-add] [memberships.tenant-query] creates a row that the list and the single query show', async () => {
    const { tenantId: of, tenantSlug } = await seedProject(service.sql, 't-adding')
    const member = await person('t-ann')
    const added = await ofTenant.add(admin, { of, userID: member.id, role: 'admin' })
    expect(added.error).toBeNull()
    expect(added.data.row).toEqual({
      id: uuid,
      roleName: 'admin',
      user: { id: member.id, externalName: 't-ann' },
      tenant: { id: of, slug: tenantSlug },
    })
    expect((await ofTenant.list(admin, { of })).data.rows).toEqual([added.data.row])
    expect((await ofTenant.get(admin, { of, id: added.data.row.id })).data.row).toEqual(added.data.row)
  })

  test('[memberships.tenant-query] a row is found in its own tenant only', async () => {
    const { id: projectId, tenantId } = project
    const id = await seedMember(service.sql, await person('t-found'), 'member', { projectId, tenantId })
    expect((await ofTenant.get(admin, { of: other.tenantId, id })).error).toBe('user2tenant not found')
    expect((await ofTenant.get(admin, { of: tenantId, id: 'nothing' })).error).toBe('user2tenant not found')
    expect((await ofTenant.list(admin, { of: other.tenantId })).data.rows).toEqual([])
    expect((await ofTenant.list(admin, { of: randomUUID() })).error).toBe('tenant not found')
  })

  test('[memberships.tenant-change] the role is changed, and the row removed', async () => {
    const { id: projectId, tenantId: of, slug } = await seedProject(service.sql, 't-changing')
    const member = await person('t-changed')
    const id = await seedMember(service.sql, member, 'member', { projectId, tenantId: of })
    for (const role of ['admin', 'owner', 'member']) {
      expect((await ofTenant.update(admin, { id, role })).data.row).toMatchObject({ id, roleName: role })
      expect((await ofTenant.get(admin, { of, id })).data.row.roleName).toBe(role)
    }
    expect((await ofTenant.remove(admin, { id })).data).toEqual({ removeUserFromTenant: true })
    for (const answer of [
      await ofTenant.get(admin, { of, id }),
      await ofTenant.remove(admin, { id }),
      await ofTenant.update(admin, { id, role: 'member' }),
    ])
      expect(answer.error).toBe('user2tenant not found')
    const own = await service.query(member, 'query($slug: String!) { project(slug: $slug) { id } }', { slug })
    expect(own.error).toBe('project not found')
  })

  test('[memberships.tenant-role-defined] a role without a definition in the tenant is refused on add and on update', async () => {
    const { id: projectId, tenantId: of } = await seedProject(service.sql, 't-roles')
    const member = await person('t-odd')
    const id = await seedMember(service.sql, member, 'member', { projectId, tenantId: of })
    const newcomer = await person('t-newcomer')
    for (const role of ['maintainer', 'Owner', 'owner ', 'developer']) {
      const refusal = `roleName ${role} is not a role definition of this tenant`
      expect((await ofTenant.add(admin, { of, userID: newcomer.id, role })).error).toBe(refusal)
      expect((await ofTenant.update(admin, { id, role })).error).toBe(refusal)
    }
    expectRefused(await ofTenant.add(admin, { of, userID: newcomer.id, role: '' }), 'bad_request')
    expect(await ofTenant.roleOf(id)).toBe('member')
    expect((await ofTenant.list(admin, { of })).data.rows).toHaveLength(1)
  })

  test('[memberships.tenant-add] an unknown user or tenant is an error, and a second row a conflict', async () => {
    const { tenantId: of } = await seedProject(service.sql, 't-twice')
    const member = await person('t-twice')
    for (const userID of [randomUUID(), 'nobody'])
      expect((await ofTenant.add(admin, { of, userID, role: 'member' })).error).toBe('user not found')
    const lost = await ofTenant.add(admin, { of: randomUUID(), userID: member.id, role: 'member' })
    expect(lost.error).toBe('tenant not found')
    const first = await ofTenant.add(admin, { of, userID: member.id, role: 'member' })
    expectRefused(await ofTenant.add(admin, { of, userID: member.id, role: 'admin' }), 'conflict')
    expect(await ofTenant.roleOf(first.data.row.id)).toBe('member')
  })
})

describe('tenants manage their own members', () => {
  /** Creates a tenant with an owner and an admin in a project with a maintainer. */
  const seedHouse = async (slug: string) => {
    const house = await seedProject(service.sql, slug)
    const of = { projectId: house.id, tenantId: house.tenantId }
    const [owner, tenantAdmin, maintainer, guest] = [
      await person(`${slug}-owner`),
      await person(`${slug}-admin`),
      await person(`${slug}-maintainer`),
      await person(`${slug}-guest`),
    ]
    const ownerId = await seedMember(service.sql, owner, 'owner', of)
    const adminId = await seedMember(service.sql, tenantAdmin, 'admin', of)
    await seedMember(service.sql, maintainer, 'maintainer', { projectId: house.id })
    return { ...house, owner, tenantAdmin, maintainer, guest, ownerId, adminId }
  }

  test('[memberships.tenant-add] [memberships.grant-not-above-own] a tenant admin adds members and admins but no owner', async () => {
    const { tenantId: of, tenantAdmin, owner, guest } = await seedHouse('granting')
    expectRefused(await ofTenant.add(tenantAdmin, { of, userID: guest.id, role: 'owner' }), 'forbidden')
    expect((await ofTenant.list(admin, { of })).data.rows).toHaveLength(2)
    const added = await ofTenant.add(tenantAdmin, { of, userID: guest.id, role: 'member' })
    expect(added.data.row.roleName).toBe('member')
    const { id } = added.data.row
    expect((await ofTenant.update(tenantAdmin, { id, role: 'admin' })).data.row.roleName).toBe('admin')
    expectRefused(await ofTenant.update(tenantAdmin, { id, role: 'owner' }), 'forbidden')
    expect(await ofTenant.roleOf(id)).toBe('admin')
    const second = await ofTenant.add(tenantAdmin, {
      of,
      userID: (await person('granted')).id,
      role: 'admin',
    })
    expect(second.data.row.roleName).toBe('admin')
    expect((await ofTenant.update(owner, { id, role: 'owner' })).data.row.roleName).toBe('owner')
  })

  test('[memberships.target-not-above-own] [memberships.no-self-raise] a tenant admin touches no owner and does not raise themselves', async () => {
    const { tenantAdmin, ownerId, adminId } = await seedHouse('touching')
    for (const role of ['member', 'admin', 'owner'])
      expectRefused(await ofTenant.update(tenantAdmin, { id: ownerId, role }), 'forbidden')
    expectRefused(await ofTenant.remove(tenantAdmin, { id: ownerId }), 'forbidden')
    expectRefused(await ofTenant.update(tenantAdmin, { id: adminId, role: 'owner' }), 'forbidden')
    expect(await ofTenant.roleOf(ownerId)).toBe('owner')
    expect(await ofTenant.roleOf(adminId)).toBe('admin')
  })

  test('[memberships.grant-not-above-own] a role grants no permission it lacks itself', async () => {
    const { id: projectId, tenantId: of, guest } = await seedHouse('narrow')
    await service.sql.query(
      `insert into tenant_role_definitions (id, project_id, tenant_id, name, permissions)
       values (gen_random_uuid(), $1, $2, 'doorman', '{apps.read,members}')`,
      [projectId, of],
    )
    const doorman = await person('doorman')
    await seedMember(service.sql, doorman, 'doorman', { projectId, tenantId: of })
    expectRefused(await ofTenant.add(doorman, { of, userID: guest.id, role: 'admin' }), 'forbidden')
    const added = await ofTenant.add(doorman, { of, userID: guest.id, role: 'doorman' })
    expect(added.data.row.roleName).toBe('doorman')
  })

  test("[memberships.tenant-last-owner] a tenant's last owner stays for the tenant's own owner, not for a project maintainer", async () => {
    const { tenantId: of, owner, maintainer, guest, ownerId } = await seedHouse('owning')
    expectRefused(await ofTenant.remove(owner, { id: ownerId }), 'forbidden')
    const demoted = await ofTenant.update(owner, { id: ownerId, role: 'admin' })
    expectRefused(demoted, 'forbidden')
    expect(demoted.error).toContain('the last owner cannot be removed or demoted')
    const second = await ofTenant.add(owner, { of, userID: guest.id, role: 'owner' })
    expect((await ofTenant.remove(guest, { id: ownerId })).data).toEqual({ removeUserFromTenant: true })
    const { id } = second.data.row
    expectRefused(await ofTenant.remove(guest, { id }), 'forbidden')
    expect((await ofTenant.remove(maintainer, { id })).data).toEqual({ removeUserFromTenant: true })
  })

  test('[policy.tenant-members] the permission members reaches the own tenant; others are not found', async () => {
    const house = await seedHouse('mine')
    const { tenantId: of, tenantAdmin, guest, adminId } = house
    const neighbour = randomUUID()
    await seedTenant(service.sql, house.id, neighbour, 'theirs')
    const theirs = await seedMember(service.sql, await person('their-member'), 'member', {
      projectId: house.id,
      tenantId: neighbour,
    })
    expect((await ofTenant.list(tenantAdmin, { of })).data.rows).toHaveLength(2)
    expect((await ofTenant.get(tenantAdmin, { of, id: adminId })).data.row.id).toBe(adminId)
    for (const foreign of [neighbour, other.tenantId, randomUUID()])
      for (const answer of [
        await ofTenant.add(tenantAdmin, { of: foreign, userID: guest.id, role: 'member' }),
        await ofTenant.list(tenantAdmin, { of: foreign }),
        await ofTenant.get(tenantAdmin, { of: foreign, id: theirs }),
      ]) {
        expect(answer.error).toBe('tenant not found')
        expect(answer.data).toBeNull()
      }
    for (const answer of [
      await ofTenant.get(tenantAdmin, { of, id: theirs }),
      await ofTenant.update(tenantAdmin, { id: theirs, role: 'admin' }),
      await ofTenant.remove(tenantAdmin, { id: theirs }),
    ])
      expect(answer.error).toBe('user2tenant not found')
    expect(await ofTenant.roleOf(theirs)).toBe('member')
  })

  test('[policy.tenant-members] without the permission the tenant is visible and its members are not', async () => {
    const { id: projectId, tenantId: of, guest, adminId } = await seedHouse('plain')
    const member = await person('plain-member')
    await seedMember(service.sql, member, 'member', { projectId, tenantId: of })
    expectRefused(await ofTenant.add(member, { of, userID: guest.id, role: 'member' }), 'forbidden')
    expectRefused(await ofTenant.list(member, { of }), 'forbidden')
    expect((await ofTenant.remove(member, { id: adminId })).error).toBe('user2tenant not found')
    expect(await ofTenant.roleOf(adminId)).toBe('admin')
  })
})
