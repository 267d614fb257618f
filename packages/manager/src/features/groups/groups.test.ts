// Tests the lists of groups and rules, and the rules themselves.
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { useGroups } from '../../../test/kit/groups.ts'
import { codeOf } from '../../../test/kit/members.ts'

const { service, admin, project, other, person, member, provision, createGroup, patchGroup, rules, rolesOf } =
  useGroups()

test('[groups.lists] administrators list groups with their numbers of members, the people in them, and rules', async () => {
  const [ann, ben] = [await provision(), await provision()]
  const displayName = `Operators ${randomUUID()}`
  const groupId = await createGroup([ann, ben], displayName)
  const ruleId = (await rules.create(admin, { groupId, projectId: project.id, role: 'tester' })).data.rule.id
  const { data, error } = await service.query(
    admin,
    `query($group: ID!, $filters: [Filter!]) {
      provisionedGroups(filters: $filters) { id displayName externalId memberCount revision }
      provisionedGroup(id: $group) { id }
      groupMembers(group: $group) { user { id } }
      groupRules(filters: [{field: "groupId", value: "${groupId}"}]) { id role group { displayName } project { slug } creator { id } }
    }`,
    { group: groupId, filters: [{ field: 'displayName', value: displayName.toUpperCase() }] },
  )
  expect(error).toBeNull()
  expect(data).toEqual({
    provisionedGroups: [
      { id: groupId, displayName, externalId: null, memberCount: 2, revision: expect.any(Number) },
    ],
    provisionedGroup: { id: groupId },
    groupMembers: expect.toSatisfy(
      (list: { user: { id: string } }[]) =>
        list
          .map(({ user }) => user.id)
          .toSorted()
          .join() === [ann.id, ben.id].toSorted().join(),
    ),
    groupRules: [
      {
        id: ruleId,
        role: 'tester',
        group: { displayName },
        project: { slug: project.slug },
        creator: { id: admin.id },
      },
    ],
  })
  for (const id of [randomUUID(), 'nothing']) {
    expect((await service.query(admin, `{ provisionedGroup(id: "${id}") { id } }`)).error).toBe(
      'group not found',
    )
    expect((await service.query(admin, `{ groupMembers(group: "${id}") { id } }`)).error).toBe(
      'group not found',
    )
  }
})

test('[groups.rule] a rule gives members its role in a project, a tenant or an application, at once and later', async () => {
  const [ann, ben] = [await provision(), await provision()]
  const groupId = await createGroup([ann])
  for (const input of [
    { projectId: project.id, role: 'developer' },
    { tenantId: project.tenantId, role: 'admin' },
    { applicationId: project.applicationId, role: 'normal' },
  ])
    expect((await rules.create(admin, { groupId, ...input })).error).toBeNull()
  const roles = [
    `application ${project.applicationId} normal by rule`,
    `project ${project.id} developer by rule`,
    `tenant ${project.tenantId} admin by rule`,
  ]
  expect(await rolesOf(ann)).toEqual(roles)
  const { status } = await patchGroup(groupId, [{ op: 'add', path: 'members', value: [{ value: ben.id }] }])
  expect(status).toBe(200)
  expect(await rolesOf(ben)).toEqual(roles)
  // The person has access at the first sign-in.
  const { data } = await service.query(ben, `{ project(slug: "${project.slug}") { myRole } }`)
  expect(data.project.myRole).toBe('developer')
  await patchGroup(groupId, [{ op: 'remove', path: `members[value eq "${ben.id}"]` }])
  expect(await rolesOf(ben)).toEqual([])
  expect((await service.query(ben, `{ project(slug: "${project.slug}") { id } }`)).error).toBe(
    'project not found',
  )
})

test('[groups.one-object] a rule names exactly one existing object, and a group has one rule for it', async () => {
  const groupId = await createGroup([])
  for (const ids of [{}, { projectId: project.id, tenantId: project.tenantId }])
    expect((await rules.create(admin, { groupId, role: 'owner', ...ids })).error).toBe(
      'pass exactly one of projectId, tenantId and applicationId',
    )
  for (const id of [randomUUID(), 'nothing']) {
    expect((await rules.create(admin, { groupId, role: 'owner', projectId: id })).error).toBe(
      'project not found',
    )
    expect((await rules.create(admin, { groupId, role: 'owner', tenantId: id })).error).toBe(
      'tenant not found',
    )
    expect((await rules.create(admin, { groupId, role: 'normal', applicationId: id })).error).toBe(
      'application not found',
    )
    expect((await rules.create(admin, { groupId: id, role: 'owner', projectId: project.id })).error).toBe(
      'group not found',
    )
  }
  const input = { groupId, role: 'owner', projectId: project.id }
  expect((await rules.create(admin, input)).error).toBeNull()
  expect((await rules.create(admin, { ...input, role: 'tester' })).error).toBe(
    'the group already has a rule for this object; change the role of that rule',
  )
  expect((await rules.create(admin, { ...input, projectId: other.id })).error).toBeNull()
})

test('[groups.role-known] the role of a rule exists in its object, and a tenant role in use is not deleted', async () => {
  const groupId = await createGroup([await provision()])
  const create = (input: object) => rules.create(admin, { groupId, ...input } as never)
  expect((await create({ projectId: project.id, role: 'admin' })).error).toMatch(
    /^role must be one of readonly/,
  )
  expect((await create({ applicationId: project.applicationId, role: 'owner' })).error).toMatch(
    /^role must be one of readonly, normal/,
  )
  expect((await create({ tenantId: project.tenantId, role: 'captain' })).error).toBe(
    'role captain is not a role definition of this tenant',
  )
  const definition = await service.query(
    admin,
    `mutation { role: createTenantRoleDefinition(tenantId: "${project.tenantId}", input: {name: "captain", permissions: ["apps.read"]}) { id } }`,
  )
  expect((await create({ tenantId: project.tenantId, role: 'captain' })).error).toBeNull()
  const id = definition.data.role.id as string
  const removal = await service.query(admin, `mutation { deleteTenantRoleDefinition(id: "${id}") }`)
  expect(removal.error).toMatch(/^the role definition is in use|^a group rule gives this role/)
  await service.query(
    admin,
    `mutation { updateTenantRoleDefinition(id: "${id}", input: {name: "skipper"}) { id } }`,
  )
  const { data } = await service.query(
    admin,
    `{ groupRules(filters: [{field: "groupId", value: "${groupId}"}]) { role } }`,
  )
  expect(data.groupRules).toEqual([{ role: 'skipper' }])
})

test('[groups.update] [groups.delete] a changed rule changes the roles, and a deleted one takes them', async () => {
  const ann = await provision()
  const groupId = await createGroup([ann])
  const created = await rules.create(admin, { groupId, projectId: project.id, role: 'tester' })
  const { id, revision } = created.data.rule as { id: string; revision: number }
  const changed = await rules.update(admin, id, 'maintainer', revision)
  expect(changed.data.rule).toMatchObject({ id, role: 'maintainer', revision: revision + 1 })
  expect(await rolesOf(ann)).toEqual([`project ${project.id} maintainer by rule`])
  expect(codeOf(await rules.update(admin, id, 'owner', revision))).toBe('CONFLICT')
  expect((await rules.update(admin, id, 'captain')).error).toMatch(/^role must be one of/)
  expect((await rules.remove(admin, id)).data).toEqual({ removed: true })
  expect(await rolesOf(ann)).toEqual([])
  for (const unknown of [id, randomUUID(), 'nothing']) {
    expect((await rules.remove(admin, unknown)).error).toBe('group rule not found')
    expect((await rules.update(admin, unknown, 'owner')).error).toBe('group rule not found')
  }
})

test('[groups.rights] only administrators see groups and write rules', async () => {
  const groupId = await createGroup([])
  const ruleId = (await rules.create(admin, { groupId, projectId: project.id, role: 'tester' })).data.rule
    .id as string
  for (const caller of [await person('stranger'), await member('owner', 'owner')]) {
    const refusals = await Promise.all([
      rules.create(caller, { groupId, projectId: project.id, role: 'readonly' }),
      rules.update(caller, ruleId, 'readonly'),
      rules.remove(caller, ruleId),
      service.query(caller, '{ provisionedGroups { id } }'),
      service.query(caller, '{ groupRules { id } }'),
      service.query(caller, `{ groupMembers(group: "${groupId}") { id } }`),
    ])
    for (const { error } of refusals) expect(error).toMatch(/requires system role administrator/)
  }
})

test('[groups.limits] a group has at most 100 rules and gives at most 100,000 roles', async () => {
  const groupId = await createGroup([])
  await service.sql.query(
    `insert into tenants (id, project_id, name, slug) select gen_random_uuid(), $1, 'x', 'limit-' || n from generate_series(1, 101) n`,
    [project.id],
  )
  const { rows } = await service.sql.query<{ id: string }>("select id from tenants where slug like 'limit-%'")
  await service.sql.query(
    `insert into tenant_role_definitions (id, project_id, tenant_id, name, permissions)
     select gen_random_uuid(), project_id, id, 'member', '{}' from tenants where slug like 'limit-%'`,
  )
  for (const { id } of rows.slice(0, 100))
    expect((await rules.create(admin, { groupId, tenantId: id, role: 'member' })).error).toBeNull()
  expect((await rules.create(admin, { groupId, tenantId: rows[100]?.id, role: 'member' })).error).toBe(
    'a group can have at most 100 rules; delete one first',
  )
  await service.sql.query('update scim_groups set member_count = 1000 where id = $1', [groupId])
  const ann = await provision()
  const { status, body } = await patchGroup(groupId, [
    { op: 'add', path: 'members', value: [{ value: ann.id }] },
  ])
  expect([status, body.detail]).toEqual([400, expect.stringMatching(/^the group would give 100100 roles/)])
  expect(await rolesOf(ann)).toEqual([])
})
