// Tests how roles of groups and roles that were given directly work together.
import { expect, test } from 'vitest'
import { useGroups } from '../../../test/kit/groups.ts'
import { memberCalls } from '../../../test/kit/members.ts'
import { seedMember } from '@manager/harness/seed.ts'

const { service, admin, project, member, provision, createGroup, patchGroup, send, rules, rolesOf } =
  useGroups()
const ofProject = memberCalls('Project', () => service)
const ofTenant = memberCalls('Tenant', () => service)
const ofApplication = memberCalls('Application', () => service)

const objects = {
  project: {
    calls: ofProject,
    id: () => project.id,
    input: () => ({ projectId: project.id }),
    roles: ['developer', 'readonly'],
  },
  tenant: {
    calls: ofTenant,
    id: () => project.tenantId,
    input: () => ({ tenantId: project.tenantId }),
    roles: ['admin', 'member'],
  },
  application: {
    calls: ofApplication,
    id: () => project.applicationId,
    input: () => ({ applicationId: project.applicationId }),
    roles: ['normal', 'readonly'],
  },
} as const

test.each(['project', 'tenant', 'application'] as const)(
  '[groups.direct-wins] a direct role in a %s takes precedence, and its removal returns the role of the group',
  async (kind) => {
    const { calls, id, input, roles } = objects[kind]
    const [groupRole, directRole] = roles
    const ann = await provision()
    const groupId = await createGroup([ann])
    await rules.create(admin, { groupId, role: groupRole, ...input() })
    expect(await rolesOf(ann)).toEqual([`${kind} ${id()} ${groupRole} by rule`])
    const added = await calls.add(admin, { of: id(), userID: ann.id, role: directRole })
    expect(added.error).toBeNull()
    expect(await rolesOf(ann)).toEqual([`${kind} ${id()} ${directRole} directly`])
    expect((await calls.add(admin, { of: id(), userID: ann.id, role: directRole })).error).toBe(
      `the user is already a member of the ${kind}; change the role instead`,
    )
    // Changes of the group do not touch the direct role.
    await patchGroup(groupId, [{ op: 'remove', path: `members[value eq "${ann.id}"]` }])
    await patchGroup(groupId, [{ op: 'add', path: 'members', value: [{ value: ann.id }] }])
    expect(await rolesOf(ann)).toEqual([`${kind} ${id()} ${directRole} directly`])
    expect((await calls.remove(admin, { id: added.data.row.id })).error).toBeNull()
    expect(await rolesOf(ann)).toEqual([`${kind} ${id()} ${groupRole} by rule`])
  },
)

test.each(['project', 'tenant', 'application'] as const)(
  '[groups.not-removable] the role of a rule in a %s is not removed, but it can be replaced directly',
  async (kind) => {
    const { calls, id, input, roles } = objects[kind]
    const ann = await provision()
    const groupId = await createGroup([ann])
    await rules.create(admin, { groupId, role: roles[0], ...input() })
    const rows = (await calls.list(admin, { of: id() })).data.rows as { id: string; user: { id: string } }[]
    const memberId = rows.find(({ user }) => user.id === ann.id)?.id as string
    const refusal = await calls.remove(admin, { id: memberId })
    expect(refusal.error).toMatch(/^a group of the identity provider gives this role; remove the person/)
    expect((await calls.update(admin, { id: memberId, role: roles[1] })).error).toBeNull()
    expect(await rolesOf(ann)).toEqual([`${kind} ${id()} ${roles[1]} directly`])
    await rules.remove(admin, (await listRuleIds(groupId))[0] as string)
    expect(await rolesOf(ann)).toEqual([`${kind} ${id()} ${roles[1]} directly`])
  },
)

const listRuleIds = async (groupId: string): Promise<string[]> =>
  (
    await service.query(
      admin,
      `{ rows: groupRules(filters: [{field: "groupId", value: "${groupId}"}]) { id } }`,
    )
  ).data.rows.map(({ id }: { id: string }) => id)

test('[groups.highest] of several rules the highest role applies, in a tenant that of the oldest rule', async () => {
  const ann = await provision()
  const [low, high] = [await createGroup([ann]), await createGroup([ann])]
  await rules.create(admin, { groupId: low, projectId: project.id, role: 'tester' })
  await rules.create(admin, { groupId: high, projectId: project.id, role: 'maintainer' })
  await rules.create(admin, { groupId: low, tenantId: project.tenantId, role: 'member' })
  await rules.create(admin, { groupId: high, tenantId: project.tenantId, role: 'owner' })
  expect(await rolesOf(ann)).toEqual([
    `project ${project.id} maintainer by rule`,
    `tenant ${project.tenantId} member by rule`,
  ])
  expect((await send('DELETE', `/Groups/${high}`)).status).toBe(204)
  expect(await rolesOf(ann)).toEqual([
    `project ${project.id} tester by rule`,
    `tenant ${project.tenantId} member by rule`,
  ])
  expect((await send('DELETE', `/Groups/${low}`)).status).toBe(204)
  expect(await rolesOf(ann)).toEqual([])
})

test('[groups.direct-wins] nobody demotes a higher member, or raises themselves, through a direct role', async () => {
  const [boss, maintainer] = [await provision(), await provision()]
  const owners = await createGroup([boss])
  const maintainers = await createGroup([maintainer])
  await rules.create(admin, { groupId: owners, projectId: project.id, role: 'owner' })
  await rules.create(admin, { groupId: maintainers, projectId: project.id, role: 'maintainer' })
  const demotion = await ofProject.add(maintainer, { of: project.id, userID: boss.id, role: 'readonly' })
  expect(demotion.error).toBe('not permitted: the member has a higher role than you')
  const raise = await ofProject.add(maintainer, { of: project.id, userID: maintainer.id, role: 'owner' })
  expect(raise.error).toBe('not permitted: your role does not let you grant owner')
  expect(await rolesOf(boss)).toEqual([`project ${project.id} owner by rule`])

  const [chief, helper] = [await provision(), await provision()]
  await rules.create(admin, {
    groupId: await createGroup([chief]),
    tenantId: project.tenantId,
    role: 'owner',
  })
  await rules.create(admin, {
    groupId: await createGroup([helper]),
    tenantId: project.tenantId,
    role: 'admin',
  })
  expect((await ofTenant.add(helper, { of: project.tenantId, userID: chief.id, role: 'member' })).error).toBe(
    'not permitted: the member has a higher role than you',
  )
})

test('[groups.direct-wins] [memberships.no-self-raise] nobody makes the role of their own group permanent', async () => {
  const [ann, ben] = [await provision(), await provision()]
  const groupId = await createGroup([ann, ben])
  await rules.create(admin, { groupId, projectId: project.id, role: 'maintainer' })
  const refusal =
    'not permitted: you cannot replace the role of your group by a direct role; ask another maintainer'
  const rows = (await ofProject.list(admin, { of: project.id })).data.rows as {
    id: string
    user: { id: string }
  }[]
  const own = rows.find(({ user }) => user.id === ann.id)?.id as string
  expect((await ofProject.update(ann, { id: own, role: 'maintainer' })).error).toBe(refusal)
  expect((await ofProject.add(ann, { of: project.id, userID: ann.id, role: 'maintainer' })).error).toBe(
    refusal,
  )
  expect(await rolesOf(ann)).toEqual([`project ${project.id} maintainer by rule`])
  // Another maintainer may give the role directly.
  expect((await ofProject.add(ben, { of: project.id, userID: ann.id, role: 'maintainer' })).error).toBeNull()

  const tenantGroup = await createGroup([await provision()])
  const helper = await provision()
  await patchGroup(tenantGroup, [{ op: 'add', path: 'members', value: [{ value: helper.id }] }])
  await rules.create(admin, { groupId: tenantGroup, tenantId: project.tenantId, role: 'admin' })
  const added = await ofTenant.add(helper, { of: project.tenantId, userID: helper.id, role: 'admin' })
  expect(added.error).toBe(refusal)
})

test('[groups.direct-wins] [memberships.grant-not-above-own] the removal of a direct role must not raise a person above the caller', async () => {
  const [ann, max] = [await provision(), await provision()]
  await rules.create(admin, { groupId: await createGroup([max]), projectId: project.id, role: 'owner' })
  const maintainer = await member('remover', 'maintainer')
  const restricted = await ofProject.add(admin, { of: project.id, userID: max.id, role: 'maintainer' })
  const id = restricted.data.row.id as string
  expect((await ofProject.remove(max, { id })).error).toBe(
    'not permitted: your role does not let you grant owner',
  )
  expect((await ofProject.remove(maintainer, { id })).error).toBe(
    'not permitted: your role does not let you grant owner',
  )
  expect(await rolesOf(max)).toEqual([`project ${project.id} maintainer directly`])
  expect((await ofProject.remove(admin, { id })).error).toBeNull()
  expect(await rolesOf(max)).toEqual([`project ${project.id} owner by rule`])

  await rules.create(admin, { groupId: await createGroup([ann]), tenantId: project.tenantId, role: 'owner' })
  const limited = await ofTenant.add(admin, { of: project.tenantId, userID: ann.id, role: 'admin' })
  expect((await ofTenant.remove(ann, { id: limited.data.row.id })).error).toBe(
    'not permitted: your role does not let you grant owner',
  )
})

test('[memberships.last-owner] an owner by a group rule does not replace the last direct owner', async () => {
  const of = (
    await service.query(
      admin,
      'mutation { row: createProject(input: {name: "Owned", slug: "owned"}) { id } }',
    )
  ).data.row.id as string
  await rules.create(admin, { groupId: await createGroup([await provision()]), projectId: of, role: 'owner' })
  const rows = (await ofProject.list(admin, { of })).data.rows as { id: string; user: { id: string } }[]
  const id = rows.find(({ user }) => user.id === admin.id)?.id as string
  expect((await ofProject.update(admin, { id, role: 'readonly' })).error).toMatch(/the last owner cannot/)
  expect((await ofProject.remove(admin, { id })).error).toMatch(/the last owner cannot/)
})

test('[memberships.last-owner] a deactivated owner does not count as the remaining owner', async () => {
  const [active, gone] = [await member('active-owner', 'owner'), await provision()]
  const goneId = await seedMember(service.sql, gone, 'owner', { projectId: project.id })
  const { rows } = await service.sql.query<{ id: string }>(
    'select id from user2projects where user_id = $1 and project_id = $2',
    [active.id, project.id],
  )
  await service.sql.query(
    "delete from user2projects where role = 'owner' and project_id = $1 and not user_id = any($2)",
    [project.id, [active.id, gone.id]],
  )
  await service.query(admin, `mutation { deactivateUser(id: "${gone.id}") { id } }`)
  const id = rows[0]?.id as string
  expect((await ofProject.remove(active, { id })).error).toMatch(/the last owner cannot be removed/)
  expect((await ofProject.remove(active, { id: goneId })).error).toBeNull()
})

test('[invitations.removal] [groups.delete] a person who loses the role of a group cannot return with an older invitation', async () => {
  const ann = await provision()
  const groupId = await createGroup([ann])
  await rules.create(admin, { groupId, projectId: project.id, role: 'tester' })
  const invited = await service.query(
    admin,
    `mutation($email: String!) { invited: inviteToProject(projectID: "${project.id}", input: {email: $email, role: "tester"}) { link } }`,
    { email: ann.email },
  )
  expect(invited.error).toBeNull()
  await patchGroup(groupId, [{ op: 'remove', path: `members[value eq "${ann.id}"]` }])
  const token = (invited.data.invited.link as string).split('#')[1]
  const accepted = await service.query(ann, `mutation { acceptInvitation(token: "${token}") { __typename } }`)
  expect(accepted.error).toBe('invitation not found')
  expect(await rolesOf(ann)).toEqual([])
})

test('[groups.person-deleted] a person whom the identity provider deletes leaves all groups and loses their roles', async () => {
  const ann = await provision()
  const groupId = await createGroup([ann])
  await rules.create(admin, { groupId, projectId: project.id, role: 'tester' })
  expect((await send('DELETE', `/Users/${ann.id}`)).status).toBe(204)
  expect(await rolesOf(ann)).toEqual([])
  const { body } = await send('GET', `/Groups/${groupId}`)
  expect(body.members ?? []).toEqual([])
})

test('[groups.audit] rules, members and the roles that they cause have audit rows in the chains of project and system', async () => {
  const ann = await provision()
  const groupId = await createGroup([], 'Audited group')
  const ruleId = (await rules.create(admin, { groupId, projectId: project.id, role: 'tester' })).data.rule
    .id as string
  await patchGroup(groupId, [{ op: 'add', path: 'members', value: [{ value: ann.id }] }])
  await rules.update(admin, ruleId, 'developer')
  await patchGroup(groupId, [{ op: 'remove', path: `members[value eq "${ann.id}"]` }])
  await rules.remove(admin, ruleId)
  const read = async (entityId: string) =>
    (
      await service.sql.query<{ line: string; metadata: Record<string, unknown> }>(
        `select entity_type || ' ' || action || ' ' || principal_type as line, metadata from audit_logs where entity_id = $1 order by seq`,
        [entityId],
      )
    ).rows
  const ruleRows = await read(ruleId)
  expect(ruleRows.map(({ line }) => line)).toEqual([
    'groupRule create user',
    'groupRule grant system',
    'groupRule update user',
    'groupRule grant user',
    'groupRule revoke system',
    'groupRule delete user',
  ])
  expect(ruleRows[1]?.metadata).toEqual({ people: 1, userIds: [ann.id] })
  expect(ruleRows[4]?.metadata).toEqual({ people: 1, userIds: [ann.id] })
  const groupRows = await read(groupId)
  expect(groupRows.map(({ line }) => line)).toEqual([
    'provisionedGroup create system',
    'provisionedGroup update system',
    'provisionedGroup update system',
  ])
  expect(groupRows[1]?.metadata).toMatchObject({ joined: 1, joinedIds: [ann.id], scimToken: 'directory' })
  expect(groupRows[2]?.metadata).toMatchObject({ left: 1, leftIds: [ann.id] })
})

test('[groups.reason] effective access names the group and the administrator of its rule', async () => {
  const ann = await provision()
  const groupId = await createGroup([ann], 'Named group')
  await rules.create(admin, { groupId, projectId: project.id, role: 'tester' })
  const text = `query($id: ID!) { effectiveAccess(user: $id) { nodes { role permissions reasons { kind group grantedBy } } } }`
  for (const caller of [admin, ann]) {
    const { data } = await service.query(caller, text, { id: ann.id })
    expect(data.effectiveAccess.nodes).toMatchObject([
      { role: 'tester', reasons: [{ kind: 'PROJECT_ROLE', group: 'Named group', grantedBy: admin.name }] },
    ])
  }
  const reader = await member('reader', 'readonly')
  const seen = await service.query(reader, text, { id: ann.id })
  expect(seen.data.effectiveAccess.nodes).toMatchObject([{ reasons: [{ group: null, grantedBy: null }] }])
  await service.query(admin, `mutation { deactivateUser(id: "${ann.id}") { id } }`)
  const after = await service.query(admin, text, { id: ann.id })
  expect(after.data.effectiveAccess.nodes).toMatchObject([{ role: 'tester', permissions: [] }])
})
