import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { expectRefused, memberCalls, uuid } from '../../../test/kit/members.ts'
import { useProject } from '../../../test/kit/project.ts'
import { seedMember, seedProject } from '@manager/harness/seed.ts'

const { service, admin, project, other, person } = useProject({ withOther: true })

const ofApplication = memberCalls('Application', () => service)

describe('application memberships', () => {
  test('[memberships.application-add] [memberships.application-query] creates a row that the list and the single query show', async () => {
    const { applicationId: of, applicationSlug } = await seedProject(service.sql, 'a-adding')
    const member = await person('a-ann')
    const added = await ofApplication.add(admin, { of, userID: member.id, role: 'normal' })
    expect(added.error).toBeNull()
    expect(added.data.row).toEqual({
      id: uuid,
      role: 'normal',
      user: { id: member.id, externalName: 'a-ann' },
      application: { id: of, slug: applicationSlug },
    })
    expect((await ofApplication.list(admin, { of })).data.rows).toEqual([added.data.row])
    expect((await ofApplication.get(admin, { of, id: added.data.row.id })).data.row).toEqual(added.data.row)
  })

  test('[memberships.application-query] a row is found in its own application only', async () => {
    const { id: projectId, applicationId } = project
    const id = await seedMember(service.sql, await person('a-found'), 'normal', { projectId, applicationId })
    const missing = 'user2application not found'
    expect((await ofApplication.get(admin, { of: other.applicationId, id })).error).toBe(missing)
    expect((await ofApplication.get(admin, { of: applicationId, id: 'nothing' })).error).toBe(missing)
    expect((await ofApplication.list(admin, { of: other.applicationId })).data.rows).toEqual([])
    expect((await ofApplication.list(admin, { of: randomUUID() })).error).toBe('application not found')
  })

  test('[memberships.application-change] the role is changed, and the row removed', async () => {
    const { id: projectId, applicationId: of } = await seedProject(service.sql, 'a-changing')
    const member = await person('a-changed')
    const id = await seedMember(service.sql, member, 'readonly', { projectId, applicationId: of })
    for (const role of ['normal', 'readonly']) {
      expect((await ofApplication.update(admin, { id, role })).data.row).toMatchObject({ id, role })
      expect((await ofApplication.get(admin, { of, id })).data.row.role).toBe(role)
    }
    expect((await ofApplication.remove(admin, { id })).data).toEqual({ removeUserFromApplication: true })
    for (const answer of [
      await ofApplication.get(admin, { of, id }),
      await ofApplication.remove(admin, { id }),
      await ofApplication.update(admin, { id, role: 'normal' }),
    ])
      expect(answer.error).toBe('user2application not found')
  })

  test('[memberships.application-roles] readonly and normal pass, any other role is refused on add and on update', async () => {
    const { id: projectId, applicationId: of } = await seedProject(service.sql, 'a-roles')
    const newcomer = await person('a-newcomer')
    const id = await seedMember(service.sql, await person('a-odd'), 'readonly', {
      projectId,
      applicationId: of,
    })
    for (const role of ['', 'Normal', 'normal ', 'owner', 'maintainer', 'member']) {
      const refusal = 'role must be one of readonly, normal'
      expect((await ofApplication.add(admin, { of, userID: newcomer.id, role })).error).toBe(refusal)
      expect((await ofApplication.update(admin, { id, role })).error).toBe(refusal)
    }
    for (const role of ['normal', 'readonly']) {
      const { id: userID } = await person(`a-${role}`)
      expect((await ofApplication.add(admin, { of, userID, role })).data.row.role).toBe(role)
    }
    expect(await ofApplication.roleOf(id)).toBe('readonly')
  })

  test('[memberships.application-add] an unknown user or application is an error, and a second row a conflict', async () => {
    const { applicationId: of } = await seedProject(service.sql, 'a-twice')
    const member = await person('a-twice')
    for (const userID of [randomUUID(), 'nobody'])
      expect((await ofApplication.add(admin, { of, userID, role: 'normal' })).error).toBe('user not found')
    const lost = await ofApplication.add(admin, { of: randomUUID(), userID: member.id, role: 'normal' })
    expect(lost.error).toBe('application not found')
    await ofApplication.add(admin, { of, userID: member.id, role: 'normal' })
    expectRefused(await ofApplication.add(admin, { of, userID: member.id, role: 'readonly' }), 'conflict')
    expect((await ofApplication.list(admin, { of })).data.rows).toMatchObject([{ role: 'normal' }])
  })
})
