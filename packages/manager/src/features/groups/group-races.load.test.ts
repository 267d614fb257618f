// Concurrent changes of groups, rules and direct roles leave exactly the roles that rules and members give.
import { expect, test } from 'vitest'
import { useGroups } from '../../../test/kit/groups.ts'
import { memberCalls } from '../../../test/kit/members.ts'

const { service, admin, project, provision, createGroup, patchGroup, send, rules, rolesOf } = useGroups()
const ofProject = memberCalls('Project', () => service)

test('[groups.races] a person who leaves two groups at once keeps the role of neither', async () => {
  for (let round = 0; round < 40; round++) {
    const ann = await provision()
    const groups = [await createGroup([ann]), await createGroup([ann])]
    for (const [index, groupId] of groups.entries())
      await rules.create(admin, {
        groupId,
        projectId: project.id,
        role: index === 0 ? 'tester' : 'developer',
      })
    const answers = await Promise.all(
      groups.map((id) => patchGroup(id, [{ op: 'remove', path: `members[value eq "${ann.id}"]` }])),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect(await rolesOf(ann)).toEqual([])
    for (const groupId of groups) await send('DELETE', `/Groups/${groupId}`)
  }
})

test('[groups.races] a rule and a new member meet: the member has the role in the end', async () => {
  for (let round = 0; round < 40; round++) {
    const ann = await provision()
    const groupId = await createGroup([])
    const [rule, patch] = await Promise.all([
      rules.create(admin, { groupId, projectId: project.id, role: 'tester' }),
      patchGroup(groupId, [{ op: 'add', path: 'members', value: [{ value: ann.id }] }]),
    ])
    expect([rule.error, patch.status]).toEqual([null, 200])
    expect(await rolesOf(ann)).toEqual([`project ${project.id} tester by rule`])
    const [removed, deleted] = await Promise.all([
      rules.remove(admin, rule.data.rule.id as string),
      send('DELETE', `/Users/${ann.id}`),
    ])
    expect([removed.error, deleted.status]).toEqual([null, 204])
    expect(await rolesOf(ann)).toEqual([])
    await send('DELETE', `/Groups/${groupId}`)
  }
})

test('[groups.races] the deletion of a person meets changes of the same groups', async () => {
  const [first, second] = [await createGroup([]), await createGroup([])]
  for (const groupId of [first, second])
    await rules.create(admin, { groupId, projectId: project.id, role: 'tester' })
  for (let round = 0; round < 20; round++) {
    const [ann, ben] = [await provision(), await provision()]
    const add = { op: 'add', path: 'members', value: [{ value: ann.id }] }
    await Promise.all([first, second].map((id) => patchGroup(id, [add])))
    const join = { op: 'add', path: 'members', value: [{ value: ben.id }] }
    const [deleted, ...joined] = await Promise.all([
      send('DELETE', `/Users/${ann.id}`),
      patchGroup(second, [join]),
      patchGroup(first, [join]),
    ])
    expect([deleted.status, ...joined.map(({ status }) => status)]).toEqual([204, 200, 200])
    expect(await rolesOf(ann)).toEqual([])
    expect(await rolesOf(ben)).toEqual([`project ${project.id} tester by rule`])
  }
})

test('[groups.races] a direct role in an application that is given while the person leaves the group stays', async () => {
  const ofApplication = memberCalls('Application', () => service)
  for (let round = 0; round < 40; round++) {
    const ann = await provision()
    const groupId = await createGroup([ann])
    await rules.create(admin, { groupId, applicationId: project.applicationId, role: 'readonly' })
    const rows = (await ofApplication.list(admin, { of: project.applicationId })).data.rows as {
      id: string
      user: { id: string }
    }[]
    const id = rows.find(({ user }) => user.id === ann.id)?.id as string
    const [updated, patched] = await Promise.all([
      ofApplication.update(admin, { id, role: 'normal' }),
      patchGroup(groupId, [{ op: 'remove', path: `members[value eq "${ann.id}"]` }]),
    ])
    expect(patched.status).toBe(200)
    const expected = updated.error === null ? [`application ${project.applicationId} normal directly`] : []
    expect(await rolesOf(ann)).toEqual(expected)
    await send('DELETE', `/Groups/${groupId}`)
    await service.sql.query('delete from user2applications where user_id = $1', [ann.id])
  }
})

test('[groups.races] a direct role that is removed while the group changes never stays', async () => {
  for (let round = 0; round < 40; round++) {
    const ann = await provision()
    const groupId = await createGroup([ann])
    await rules.create(admin, { groupId, projectId: project.id, role: 'tester' })
    const added = await ofProject.add(admin, { of: project.id, userID: ann.id, role: 'developer' })
    const [removed, patched] = await Promise.all([
      ofProject.remove(admin, { id: added.data.row.id as string }),
      patchGroup(groupId, [{ op: 'remove', path: 'members', value: [{ value: ann.id }] }]),
    ])
    expect([removed.error, patched.status]).toEqual([null, 200])
    expect(await rolesOf(ann)).toEqual([])
    await send('DELETE', `/Groups/${groupId}`)
  }
})

test('[groups.limits] a rule for a group of 20,000 people gives and takes all roles within the time of a request', async () => {
  const { rows } = await service.sql.query<{ id: string }>(
    `with people as (
       insert into users (id, external_name, external_username, external_email)
       select gen_random_uuid(), 'p' || n, 'p' || n, '' from generate_series(1, 20000) n returning id
     ), provisioned as (insert into scim_users (user_id, user_name, active) select id, id::text, true from people)
     select id from people`,
  )
  const groupId = await createGroup([])
  const startedAt = performance.now()
  const value = rows.map(({ id }) => ({ value: id }))
  expect((await patchGroup(groupId, [{ op: 'replace', path: 'members', value }])).status).toBe(200)
  const joinedAt = performance.now()
  const rule = await rules.create(admin, { groupId, projectId: project.id, role: 'tester' })
  expect(rule.error).toBeNull()
  const grantedAt = performance.now()
  const count = async (): Promise<number> => {
    const given = 'select count(*)::int as count from user2projects where group_rule_id = $1'
    return (await service.sql.query<{ count: number }>(given, [rule.data.rule.id])).rows[0]?.count ?? 0
  }
  expect(await count()).toBe(20_000)
  expect((await send('DELETE', `/Groups/${groupId}`)).status).toBe(204)
  expect(await count()).toBe(0)
  const ms = [joinedAt - startedAt, grantedAt - joinedAt, performance.now() - grantedAt].map(Math.round)
  process.stdout.write(
    `group of 20,000 people: joined in ${ms[0]} ms, rule in ${ms[1]} ms, deleted in ${ms[2]} ms\n`,
  )
}, 60_000)
