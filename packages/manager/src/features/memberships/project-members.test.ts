import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { codeOf, expectRefused, memberCalls, uuid } from '../../../test/kit/members.ts'
import { useProject } from '../../../test/kit/project.ts'
import { seedMember, seedProject } from '@manager/harness/seed.ts'

const { service, admin, project, other, person } = useProject({ withOther: true })

const ofProject = memberCalls('Project', () => service)

describe('project memberships', () => {
  test('[memberships.project-add] [memberships.project-query] creates a row that the list and the single query show', async () => {
    const { id: of } = await seedProject(service.sql, 'adding')
    const [ann, ben] = [await person('ann'), await person('ben')]
    await seedMember(service.sql, ben, 'owner', { projectId: of })
    const added = await ofProject.add(admin, { of, userID: ann.id, role: 'tester' })
    expect(added.error).toBeNull()
    expect(added.data.row).toEqual({
      id: uuid,
      role: 'tester',
      user: { id: ann.id, externalName: 'ann' },
      project: { id: of, slug: 'adding' },
    })
    const listed = await ofProject.list(admin, { of })
    expect(listed.data.rows).toHaveLength(2)
    expect(listed.data.rows).toContainEqual(added.data.row)
    expect((await ofProject.get(admin, { of, id: added.data.row.id })).data.row).toEqual(added.data.row)
  })

  test('[memberships.project-query] a row is found in its own project only, and not by strangers', async () => {
    const memberId = await seedMember(service.sql, await person('found'), 'tester', { projectId: project.id })
    const stranger = await person('stranger')
    for (const [of, id] of [
      [other.id, memberId],
      [project.id, randomUUID()],
      [project.id, 'nothing'],
    ] as const)
      expect((await ofProject.get(admin, { of, id })).error).toBe('user2project not found')
    for (const answer of [
      await ofProject.list(admin, { of: randomUUID() }),
      await ofProject.list(stranger, { of: project.id }),
      await ofProject.get(stranger, { of: project.id, id: memberId }),
    ])
      expect(answer.error).toBe('project not found')
  })

  test('[memberships.project-change] the role is changed, and the row removed', async () => {
    const { id: of } = await seedProject(service.sql, 'changing')
    const member = await person('changed')
    const id = await seedMember(service.sql, member, 'readonly', { projectId: of })
    for (const role of ['tester', 'owner', 'owner']) {
      // A second owner ensures that the rule about the last owner does not affect this test.
      if (role === 'owner') await ofProject.add(admin, { of, userID: admin.id, role: 'owner' })
      const changed = await ofProject.update(admin, { id, role })
      expect(changed.data.row).toMatchObject({ id, role, user: { id: member.id } })
      expect((await ofProject.get(admin, { of, id })).data.row.role).toBe(role)
    }
    expect((await ofProject.remove(admin, { id })).data).toEqual({ removeUserFromProject: true })
    expect((await ofProject.get(admin, { of, id })).error).toBe('user2project not found')
    expect((await ofProject.remove(admin, { id })).error).toBe('user2project not found')
    expect((await ofProject.update(admin, { id, role: 'tester' })).error).toBe('user2project not found')
    expect((await ofProject.list(member, { of })).error).toBe('project not found')
  })

  test('[memberships.project-roles] each of the five roles passes, any other is refused on add and on update', async () => {
    const { id: of } = await seedProject(service.sql, 'roles')
    for (const role of ['owner', 'maintainer', 'developer', 'tester', 'readonly']) {
      const { id: userID } = await person(`role-${role}`)
      expect((await ofProject.add(admin, { of, userID, role })).data.row.role).toBe(role)
    }
    const member = await person('odd-role')
    const id = await seedMember(service.sql, member, 'tester', { projectId: of })
    const newcomer = await person('odd-newcomer')
    for (const role of ['', 'Owner', 'owner ', 'admin', 'administrator', 'member', 'normal']) {
      const refusal = 'role must be one of readonly, tester, developer, maintainer, owner'
      expect((await ofProject.add(admin, { of, userID: newcomer.id, role })).error).toBe(refusal)
      expect((await ofProject.update(admin, { id, role })).error).toBe(refusal)
    }
    expect(await ofProject.roleOf(id)).toBe('tester')
  })

  test('[memberships.project-add] an unknown user or project is an error, and a second row a conflict', async () => {
    const member = await person('twice')
    const of = project.id
    for (const userID of [randomUUID(), 'nobody'])
      expect((await ofProject.add(admin, { of, userID, role: 'tester' })).error).toBe('user not found')
    const lost = await ofProject.add(admin, { of: randomUUID(), userID: member.id, role: 'tester' })
    expect(lost.error).toBe('project not found')
    const first = await ofProject.add(admin, { of, userID: member.id, role: 'tester' })
    expect(first.error).toBeNull()
    expectRefused(await ofProject.add(admin, { of, userID: member.id, role: 'developer' }), 'conflict')
    expect(await ofProject.roleOf(first.data.row.id)).toBe('tester')
  })
})

describe('the last owner of a project', () => {
  test('[memberships.last-owner] is neither demoted nor removed, not by themselves and not by an administrator', async () => {
    const { id: projectId } = await seedProject(service.sql, 'last')
    const owner = await person('last-owner')
    const id = await seedMember(service.sql, owner, 'owner', { projectId })
    await seedMember(service.sql, await person('not-owner'), 'maintainer', { projectId })
    for (const caller of [owner, admin]) {
      for (const role of ['readonly', 'tester', 'developer', 'maintainer'])
        expectRefused(await ofProject.update(caller, { id, role }), 'forbidden')
      const removed = await ofProject.remove(caller, { id })
      expectRefused(removed, 'forbidden')
      expect(removed.error).toContain('the last owner cannot be removed or demoted')
    }
    expect(await ofProject.roleOf(id)).toBe('owner')
    expect((await ofProject.update(owner, { id, role: 'owner' })).error).toBeNull()
  })

  test('[memberships.last-owner] once there is a second owner, the first may be demoted or removed', async () => {
    const { id: projectId } = await seedProject(service.sql, 'not-last')
    const [first, second] = [await person('first'), await person('second')]
    const firstId = await seedMember(service.sql, first, 'owner', { projectId })
    await ofProject.add(first, { of: projectId, userID: second.id, role: 'owner' })
    expect((await ofProject.update(second, { id: firstId, role: 'maintainer' })).data.row.role).toBe(
      'maintainer',
    )
    expect((await ofProject.update(second, { id: firstId, role: 'owner' })).data.row.role).toBe('owner')
    expect((await ofProject.remove(admin, { id: firstId })).data).toEqual({ removeUserFromProject: true })
  })

  test('[memberships.last-owner] an owner of another project does not count', async () => {
    const { id: projectId } = await seedProject(service.sql, 'counted')
    const owner = await person('counted')
    const id = await seedMember(service.sql, owner, 'owner', { projectId })
    await seedMember(service.sql, owner, 'owner', { projectId: other.id })
    expectRefused(await ofProject.remove(admin, { id }), 'forbidden')
  })

  test('[memberships.last-owner] of two owners who leave at once, or remove each other, one stays', async () => {
    for (let round = 0; round < 6; round++) {
      const { id: projectId } = await seedProject(service.sql, `race-${round}`)
      const [ann, ben] = [await person(`race-ann-${round}`), await person(`race-ben-${round}`)]
      const annId = await seedMember(service.sql, ann, 'owner', { projectId })
      const benId = await seedMember(service.sql, ben, 'owner', { projectId })
      const [first, second] = round % 2 === 0 ? [annId, benId] : [benId, annId]
      const answers = await Promise.all([
        ofProject.remove(ann, { id: first }),
        ofProject.update(ben, { id: second, role: 'readonly' }),
      ])
      const codes = answers.map((answer) => codeOf(answer))
      expect(codes.filter((code) => code === undefined)).toHaveLength(1)
      expect(['forbidden', 'not_found']).toContain(codes.find((code) => code !== undefined))
      const owners = await service.sql.query(
        "select 1 from user2projects where project_id = $1 and role = 'owner'",
        [projectId],
      )
      expect(owners.rows).toHaveLength(1)
    }
  })
})
