// Tests the rows of effective access, their reasons, and what callers may see of them.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { seedMember } from '@manager/harness/seed.ts'
import { listObject, listPerson } from '../../../test/kit/access-rows.ts'
import { invitationCalls } from '../../../test/kit/invitations.ts'
import { useProject } from '../../../test/kit/project.ts'

const { service, admin, project, other, person, member } = useProject({ withOther: true })

const fields = `scope role applicationRole hiddenKinds covers tenant { id } application { id }
  reasons { kind role grantedAt grantedBy }`
type Reason = { kind: string; role: string; grantedAt: string | null; grantedBy: string | null }
type Row = {
  scope: string
  role: string
  applicationRole: string | null
  hiddenKinds: string[]
  covers: string[]
  tenant: { id: string } | null
  application: { id: string } | null
  reasons: Reason[]
}

async function read(caller: Person, field: string): Promise<{ nodes: Row[]; hiddenKinds: string[] }> {
  const { data, error } = await service.query(
    caller,
    `{ page: ${field} { nodes { ${fields} } hiddenKinds } }`,
  )
  expect(error).toBeNull()
  return data.page as { nodes: Row[]; hiddenKinds: string[] }
}
const errorOf = async (caller: Person, field: string): Promise<string | null> =>
  (await service.query(caller, `{ ${field} { nodes { role } } }`)).error

const inTenant = { projectId: '', tenantId: '' }
let maintainer: Person
let reader: Person
/** A member of the tenant who may read its members. */
let manager: Person
/** A person with a role in the tenant, and a role in the application of the other project. */
let subject: Person
beforeAll(async () => {
  Object.assign(inTenant, { projectId: project.id, tenantId: project.tenantId })
  maintainer = await member('maintainer', 'maintainer')
  reader = await member('reader', 'readonly')
  manager = await person('manager')
  await seedMember(service.sql, manager, 'admin', inTenant)
  subject = await person('subject')
  await service.query(
    maintainer,
    'mutation($t: ID!, $u: ID!) { addUserToTenant(tenantID: $t, userID: $u, roleName: "member") { id } }',
    { t: project.tenantId, u: subject.id },
  )
  await seedMember(service.sql, subject, 'readonly', {
    projectId: other.id,
    applicationId: other.applicationId,
  })
})

describe('the access of a person', () => {
  test('[effective-access.rows] has a row for each role, and one for each application that a tenant role reaches', async () => {
    const { nodes, hiddenKinds } = await read(subject, `effectiveAccess(user: "${subject.id}")`)
    expect(hiddenKinds).toEqual([])
    const byScope = nodes.toSorted((a, b) => a.scope.localeCompare(b.scope))
    expect(byScope).toMatchObject([
      { scope: 'APPLICATION', role: 'readonly', applicationRole: 'readonly', covers: [] },
      { scope: 'TENANT', role: 'member', applicationRole: 'normal', tenant: { id: project.tenantId } },
      {
        scope: 'TENANT_APPLICATION',
        role: 'normal',
        tenant: { id: project.tenantId },
        application: { id: project.applicationId },
      },
    ])
    expect(byScope.every((row) => row.hiddenKinds.length === 0)).toBe(true)
  })

  test('of a project member is one row that covers tenants and applications', async () => {
    const both = await member('both', 'readonly')
    await seedMember(service.sql, both, 'admin', inTenant)
    const { nodes } = await read(admin, `effectiveAccess(user: "${both.id}")`)
    expect(nodes).toMatchObject([
      { scope: 'PROJECT', role: 'readonly', applicationRole: 'readonly' },
      { scope: 'TENANT', role: 'admin' },
    ])
    expect(nodes[0]?.covers).toEqual(['TENANT', 'APPLICATION', 'TENANT_APPLICATION'])
    expect(nodes[1]?.reasons.map(({ kind }) => kind)).toEqual(['PROJECT_ROLE', 'TENANT_ROLE'])
  })

  test('of an administrator starts with the system role, also within a project', async () => {
    const scope = `effectiveAccess(user: "${admin.id}", project: "${project.id}")`
    const { nodes } = await read(admin, scope)
    expect(nodes).toMatchObject([{ scope: 'SYSTEM', role: 'administrator', applicationRole: 'normal' }])
  })

  test('can be restricted to one project', async () => {
    const rows = await listPerson(service, subject, { user: subject.id, project: other.id })
    expect(rows.map(({ scope }) => scope)).toEqual(['APPLICATION'])
    const unknown = `effectiveAccess(user: "${subject.id}", project: "${randomUUID()}")`
    expect(await errorOf(subject, unknown)).toBe('project not found')
  })

  test('[effective-access.visibility] is shown to others only where they may read members', async () => {
    const ofSubject = `effectiveAccess(user: "${subject.id}")`
    const toReader = await read(reader, ofSubject)
    expect(toReader.nodes.map(({ scope }) => scope)).toEqual(['TENANT', 'TENANT_APPLICATION'])
    expect(toReader.nodes[0]?.hiddenKinds).toEqual([])
    expect(toReader.hiddenKinds).toHaveLength(4)
    const stranger = await person('stranger')
    for (const id of [subject.id, randomUUID(), 'nonsense'])
      expect(await errorOf(stranger, `effectiveAccess(user: "${id}")`)).toBe('user not found')
  })

  test('does not show project roles to readers of a tenant', async () => {
    const owner = await member('hidden-owner', 'owner')
    await seedMember(service.sql, owner, 'member', inTenant)
    const rows = await listPerson(service, manager, { user: owner.id })
    const plain = await listPerson(service, manager, { user: subject.id })
    const withoutReasons = (row: (typeof rows)[number]) => ({ ...row, user: '', reasons: '' })
    expect(rows.map(withoutReasons)).toEqual(plain.map(withoutReasons))
    expect(rows.every(({ reasons }) => reasons.startsWith('TENANT_ROLE/member/'))).toBe(true)
    const { nodes } = await read(manager, `effectiveAccess(user: "${owner.id}")`)
    expect(nodes[0]?.hiddenKinds).toEqual(['PROJECT_ROLE', 'APPLICATION_ROLE'])
  })

  test('does not name a tenant that the person may not see', async () => {
    await service.sql.query(
      `insert into tenant_role_definitions (id, project_id, tenant_id, name, permissions)
       values (gen_random_uuid(), $1, $2, 'host', '{members}')`,
      [project.id, project.tenantId],
    )
    const host = await person('host')
    await seedMember(service.sql, host, 'host', inTenant)
    const { nodes } = await read(host, `effectiveAccess(user: "${host.id}")`)
    expect(nodes).toMatchObject([{ scope: 'TENANT', role: 'host', tenant: null, applicationRole: null }])
    const toReader = await read(reader, `effectiveAccess(user: "${host.id}")`)
    expect(toReader.nodes).toMatchObject([{ tenant: { id: project.tenantId } }])
  })

  test('is paged by cursors that contain no id, and that belong to one reader', async () => {
    const readCursors = async (caller: Person): Promise<string[]> => {
      const { data, error } = await service.query(
        caller,
        `{ page: effectiveAccess(user: "${subject.id}", pagination: {limit: 1, offset: 0}) {
           pageInfo { startCursor endCursor } } }`,
      )
      expect(error).toBeNull()
      return [data.page.pageInfo.startCursor as string, data.page.pageInfo.endCursor as string]
    }
    // The role of the host has no `apps.read`, so tenants and applications are hidden from it.
    const host = await person('paging-host')
    await seedMember(service.sql, host, 'host', inTenant)
    const [all, onePerPage] = [
      await listPerson(service, host, { user: subject.id }),
      await listPerson(service, host, { user: subject.id }, 1),
    ]
    expect(all).toMatchObject([
      { scope: 'TENANT', tenant: null },
      { scope: 'TENANT_APPLICATION', tenant: null, application: null },
    ])
    expect(onePerPage).toEqual(all)
    for (const cursor of await readCursors(host)) {
      const bytes = Buffer.from(cursor, 'base64url')
      for (const id of [project.tenantId, project.applicationId, project.id])
        for (const part of [id, Buffer.from(id.replaceAll('-', ''), 'hex')])
          expect(bytes.includes(part)).toBe(false)
      const field = `effectiveAccess(user: "${subject.id}", after: "${cursor}")`
      expect(await errorOf(host, field)).toBeNull()
      expect(await errorOf(reader, field)).toMatch(/^after is not a valid cursor/)
    }
  })
})

describe('the reasons of access', () => {
  const findReason = async (caller: Person): Promise<Reason | undefined> => {
    const { nodes } = await read(caller, `effectiveAccess(user: "${subject.id}", project: "${project.id}")`)
    return nodes[0]?.reasons[0]
  }

  test('[effective-access.reasons] state the role and the time, and name who granted the role to those who may know', async () => {
    for (const caller of [subject, maintainer, admin])
      expect(await findReason(caller)).toEqual({
        kind: 'TENANT_ROLE',
        role: 'member',
        grantedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
        grantedBy: 'maintainer',
      })
    for (const caller of [reader, manager])
      expect(await findReason(caller)).toMatchObject({ grantedAt: expect.any(String), grantedBy: null })
  })

  test('name the inviter of a person who accepted an invitation, until somebody changes the role', async () => {
    const guest = await person('guest')
    const invitations = invitationCalls(() => service)
    const { token } = await invitations.inviteOrFail(maintainer, 'project', project.id, {
      email: 'guest@example.com',
      role: 'readonly',
      requireSameEmail: false,
    })
    expect((await invitations.accept(guest, token)).error).toBeNull()
    const readReason = async () => {
      const { data } = await service.query(
        admin,
        `{ page: effectiveAccess(user: "${guest.id}") { nodes { reasons { membershipId grantedBy } } } }`,
      )
      return data.page.nodes[0].reasons[0] as { membershipId: string; grantedBy: string | null }
    }
    const { membershipId, grantedBy } = await readReason()
    expect(grantedBy).toBe('maintainer')
    const { error } = await service.query(
      admin,
      'mutation($id: ID!) { updateUserProjectRole(id: $id, role: "tester") { role } }',
      { id: membershipId },
    )
    expect(error).toBeNull()
    expect((await readReason()).grantedBy).toBe('admin')
  })

  test('of a system role are read from the audit trail', async () => {
    const promoted = await person('promoted')
    const readReason = async (): Promise<Reason | undefined> =>
      (await read(admin, `effectiveAccess(user: "${promoted.id}")`)).nodes[0]?.reasons[0]
    await service.sql.query("update users set role = 'administrator' where id = $1", [promoted.id])
    expect(await readReason()).toMatchObject({ kind: 'SYSTEM_ROLE', grantedAt: null, grantedBy: null })
    await service.sql.query("update users set role = 'user' where id = $1", [promoted.id])
    await service.query(
      admin,
      'mutation($u: ID!) { updateUserSystemRole(id: $u, role: "administrator") { id } }',
      { u: promoted.id },
    )
    expect(await readReason()).toMatchObject({ grantedAt: expect.any(String), grantedBy: 'admin' })
    await service.sql.query("update users set role = 'user' where id = $1", [promoted.id])
  })
})

describe('the people with access to an object', () => {
  test('[effective-access.administrators] are administrators, then members of the project, then those of the object', async () => {
    const scopesOf = async (caller: Person, of: Record<string, string>): Promise<string[]> => [
      ...new Set((await listObject(service, caller, of)).map(({ scope }) => scope)),
    ]
    const tenant = { tenant: project.tenantId }
    expect(await scopesOf(admin, tenant)).toEqual(['SYSTEM', 'PROJECT', 'TENANT'])
    expect(await scopesOf(reader, tenant)).toEqual(['PROJECT', 'TENANT'])
    expect(await scopesOf(manager, tenant)).toEqual(['TENANT'])
    expect(await scopesOf(reader, { application: project.applicationId })).toEqual([
      'PROJECT',
      'TENANT_APPLICATION',
    ])
    expect(await scopesOf(reader, { project: project.id })).toEqual(['PROJECT', 'TENANT'])
    const kinds = async (caller: Person) =>
      (await read(caller, `whoCanReach(tenant: "${project.tenantId}")`)).hiddenKinds
    expect(await kinds(admin)).toEqual([])
    expect(await kinds(reader)).toEqual(['SYSTEM_ROLE'])
    expect(await kinds(manager)).toEqual(['SYSTEM_ROLE', 'PROJECT_ROLE'])
  })

  test('do not exist for callers who may not read its members', async () => {
    const plain = await person('plain-member')
    await seedMember(service.sql, plain, 'member', inTenant)
    for (const object of [
      `project: "${project.id}"`,
      `tenant: "${project.tenantId}"`,
      `tenant: "${randomUUID()}"`,
    ])
      expect(await errorOf(plain, `whoCanReach(${object})`)).toBe('project, tenant or application not found')
    expect(await errorOf(manager, `whoCanReach(application: "${project.applicationId}")`)).toMatch(
      /not found$/,
    )
  })

  test('are filtered by name, user name and e-mail', async () => {
    const names = async (field: string, value: string): Promise<string[]> => {
      const { data, error } = await service.query(
        reader,
        `query($filters: [Filter!]) { page: whoCanReach(tenant: "${project.tenantId}", filters: $filters) {
           nodes { user { externalName } } } }`,
        { filters: { field, value } },
      )
      expect(error).toBeNull()
      return data.page.nodes.map((row: { user: { externalName: string } }) => row.user.externalName)
    }
    expect(await names('userName', 'SUBJ')).toEqual(['subject'])
    expect(await names('userEmail', 'maintainer@')).toEqual(['maintainer'])
    expect(await names('username', 'nobody')).toEqual([])
  })

  test('are paged without repetitions, and cursors of other lists are rejected', async () => {
    const of = { project: project.id }
    const [all, onePerPage] = [await listObject(service, admin, of), await listObject(service, admin, of, 1)]
    expect(all.length).toBeGreaterThan(5)
    expect(onePerPage).toEqual(all)
    const { data } = await service.query(
      admin,
      `{ effectiveAccess(user: "${subject.id}") { pageInfo { endCursor } } }`,
    )
    const foreign = data.effectiveAccess.pageInfo.endCursor as string
    const position = Buffer.from(JSON.stringify(['access to object', '9', 'x'])).toString('base64url')
    for (const after of [foreign, position, 'nonsense'])
      expect(await errorOf(admin, `whoCanReach(project: "${project.id}", after: "${after}")`)).toMatch(
        /^after is not a valid cursor/,
      )
    const offset = 'pagination: {limit: 10, offset: 10}'
    expect(await errorOf(admin, `whoCanReach(project: "${project.id}", ${offset})`)).toMatch(
      /offset must be 0/,
    )
  })

  test('[effective-access.one-object] are those of exactly one object', async () => {
    for (const object of ['project: null', `project: "${project.id}", tenant: "${project.tenantId}"`])
      expect(await errorOf(admin, `whoCanReach(${object})`)).toBe(
        'pass exactly one of project, tenant and application',
      )
  })
})
