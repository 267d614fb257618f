import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import { seedMember, seedProject, seedUser } from '@manager/harness/seed.ts'

let service: TestApp
let admin: Person

beforeAll(async () => {
  service = await startTestApp()
  admin = await seedUser(service.sql, 'admin', 'administrator')
})
afterAll(() => service.close())

const setRole = (caller: Person, id: string, role: string) =>
  service.query(
    caller,
    'mutation($id: ID!, $role: String!) { updateUserSystemRole(id: $id, role: $role) { id role } }',
    { id, role },
  )

const search = (caller: Person, name: string) =>
  service.query(
    caller,
    'query($name: String!) { userProviderSearch(name: $name) { id username email displayName disabled } }',
    { name },
  )

const namesFor = async (caller: Person, args = '') => {
  const { data, error } = await service.query(caller, `{ users${args} { externalName } }`)
  expect(error).toBeNull()
  return (data.users as { externalName: string }[]).map((user) => user.externalName)
}

/** Returns the rows about a user in the system audit chain. */
const auditRowsAbout = async (userId: string) => {
  const { rows } = await service.sql.query(
    `select entity_type, action, user_id, changes from audit_logs
     where chain_id = '00000000-0000-0000-0000-000000000000' and entity_id = $1 order by seq`,
    [userId],
  )
  return rows
}

describe('users', () => {
  test('[users.me] [users.fields] the caller reads their own user, with every field of a user', async () => {
    const ann = await seedUser(service.sql, 'ann')
    const fields = 'id externalName externalUsername externalEmail role'
    const own = await service.query(ann, `{ me { ${fields} } }`)
    expect(own.data.me).toEqual({
      id: ann.id,
      externalName: 'ann',
      externalUsername: 'ann@example.com',
      externalEmail: 'ann@example.com',
      role: 'user',
    })
    const other = await service.query(admin, '{ me { id role } }')
    expect(other.data.me).toEqual({ id: admin.id, role: 'administrator' })
  })

  test('[users.fields] a user has its five fields, all of them always present', async () => {
    const { data } = await service.query(
      admin,
      '{ type: __type(name: "User") { fields { name type { kind ofType { name } } } } }',
    )
    const required = (name: string, type: string) => ({
      name,
      type: { kind: 'NON_NULL', ofType: { name: type } },
    })
    expect(data.type.fields).toEqual(
      expect.arrayContaining([
        required('id', 'ID'),
        required('externalName', 'String'),
        required('externalUsername', 'String'),
        required('externalEmail', 'String'),
        required('role', 'String'),
      ]),
    )
  })

  test('[users.list] lists users, filtered, ordered and by page', async () => {
    for (const name of ['lister-b', 'lister-a', 'lister-c']) await seedUser(service.sql, name)
    const filters = 'filters: [{field: "externalName", value: "LISTER-"}]'
    const order = 'order: [{field: "externalName", direction: DESC}]'
    expect(await namesFor(admin, `(${filters}, ${order})`)).toEqual(['lister-c', 'lister-b', 'lister-a'])
    expect(await namesFor(admin, `(${filters}, ${order}, pagination: {limit: 1, offset: 1})`)).toEqual([
      'lister-b',
    ])
  })

  test('[policy.users-list] administrators see everyone, others themselves and whom they share a project with', async () => {
    const [here, colleague, elsewhere, alone, tenantMember] = await Promise.all(
      ['here', 'colleague', 'elsewhere', 'alone', 'tenant-member'].map((name) => seedUser(service.sql, name)),
    )
    const shared = await seedProject(service.sql, 'shared')
    const foreign = await seedProject(service.sql, 'foreign')
    await seedMember(service.sql, here as Person, 'owner', { projectId: shared.id })
    await seedMember(service.sql, colleague as Person, 'readonly', { projectId: shared.id })
    await seedMember(service.sql, elsewhere as Person, 'owner', { projectId: foreign.id })
    await seedMember(service.sql, tenantMember as Person, 'owner', {
      projectId: foreign.id,
      tenantId: foreign.tenantId,
    })
    expect((await namesFor(here as Person)).toSorted()).toEqual(['colleague', 'here'])
    expect((await namesFor(colleague as Person)).toSorted()).toEqual(['colleague', 'here'])
    expect(await namesFor(elsewhere as Person)).not.toContain('here')
    expect(await namesFor(alone as Person)).toEqual(['alone'])
    expect(await namesFor(admin)).toEqual(
      expect.arrayContaining(['admin', 'here', 'colleague', 'elsewhere', 'alone', 'tenant-member']),
    )
  })

  test('[policy.users-list] a filter does not reach users outside the list', async () => {
    const [spy, target] = await Promise.all(['spy', 'target'].map((name) => seedUser(service.sql, name)))
    const byEmail = '(filters: {field: "externalEmail", value: "target@example.com"})'
    expect(await namesFor(spy as Person, byEmail)).toEqual([])
    expect(await namesFor(spy as Person, `(filters: {field: "id", value: "${target?.id}"})`)).toEqual([])
    expect(await namesFor(admin, byEmail)).toEqual(['target'])
  })

  test('[users.provider-search] finds people by a part of name or e-mail, whatever its case', async () => {
    const found = await seedUser(service.sql, 'Grace Hopper')
    await seedUser(service.sql, 'somebody else')
    for (const text of ['grace', 'HOPP', 'ce hop', 'grace hopper@example.com', '  hopper  ']) {
      const { data } = await search(admin, text)
      expect(data.userProviderSearch).toEqual([
        {
          id: found.id,
          username: 'Grace Hopper@example.com',
          email: 'Grace Hopper@example.com',
          displayName: 'Grace Hopper',
          disabled: false,
        },
      ])
    }
  })

  test('[users.provider-search] [lists.default-page] answers at most 100 people; wildcards stand for themselves', async () => {
    for (let n = 0; n < 102; n++) await seedUser(service.sql, `crowd ${n}`)
    expect((await search(admin, 'crowd')).data.userProviderSearch).toHaveLength(100)
    for (const text of ['cro%d', 'crowd_1', '%', '_rowd'])
      expect((await search(admin, text)).data.userProviderSearch).toEqual([])
    // Other tests read complete pages of users.
    await service.sql.query("delete from users where external_name like 'crowd %'")
  })

  test('[users.provider-search] [lists.arguments] filters, order and pages narrow what the text finds', async () => {
    for (const name of ['Ada Sorted', 'Bea Sorted', 'Cem Sorted', 'Dan Other'])
      await seedUser(service.sql, name)
    const namesOf = async (more: string, text = 'sorted') => {
      const { data, error } = await service.query(
        admin,
        `{ found: userProviderSearch(name: "${text}", ${more}) { displayName } }`,
      )
      return error ?? data.found.map((one: { displayName: string }) => one.displayName)
    }
    expect(await namesOf('order: {field: "displayName", direction: DESC}')).toEqual([
      'Cem Sorted',
      'Bea Sorted',
      'Ada Sorted',
    ])
    expect(await namesOf('pagination: {limit: 1, offset: 1}')).toEqual(['Bea Sorted'])
    expect(await namesOf('filters: {field: "email", value: "CEM"}')).toEqual(['Cem Sorted'])
    expect(await namesOf('filters: {field: "email", value: "dan"}')).toEqual([])
    // Short search strings use a different index.
    expect(
      await namesOf('order: {field: "username"}, filters: {field: "displayName", value: "sorted"}', 'c'),
    ).toEqual(['Cem Sorted'])
    expect(await namesOf('filters: {field: "disabled", value: "true"}')).toBe(
      'unknown filter field "disabled"; allowed: id, username, email, displayName',
    )
  })

  test('[users.provider-search] a blank text, or one of more than 200 characters, is refused', async () => {
    for (const text of ['', '   ', 'x'.repeat(201)])
      expect((await search(admin, text)).error).toBe('name must have 1 to 200 characters')
    expect((await search(admin, 'x'.repeat(200))).error).toBeNull()
  })

  test('[users.provider-search] a text of U+0000 alone is refused instead of finding everyone', async () => {
    for (const text of ['\u0000', ' \u0000 ', '\u0000\u0000'])
      expect((await search(admin, text)).errors[0]?.extensions?.code).toBe('bad_request')
  })

  test('[policy.user-provider-search] is open to maintainers and owners of any project and to administrators only', async () => {
    const project = await seedProject(service.sql, 'searchers')
    for (const [role, ok] of [
      ['readonly', false],
      ['tester', false],
      ['developer', false],
      ['maintainer', true],
      ['owner', true],
    ] as const) {
      const person = await seedUser(service.sql, `search-${role}`)
      await seedMember(service.sql, person, role, { projectId: project.id })
      const answer = await search(person, 'admin')
      expect(answer.errors.map((error) => error.extensions?.code)).toEqual(ok ? [] : ['forbidden'])
      expect(answer.data !== null).toBe(ok)
    }
    const tenantOwner = await seedUser(service.sql, 'search-tenant-owner')
    await seedMember(service.sql, tenantOwner, 'owner', { projectId: project.id, tenantId: project.tenantId })
    const stranger = await seedUser(service.sql, 'search-stranger')
    for (const person of [tenantOwner, stranger])
      expect((await search(person, 'admin')).error).toContain('not permitted')
    expect((await search(admin, 'admin')).error).toBeNull()
  })
})

describe('system roles', () => {
  test('[identity.update-system-role] an administrator raises a user and takes it back; both work at once', async () => {
    const person = await seedUser(service.sql, 'riser')
    const raised = await setRole(admin, person.id, 'administrator')
    expect(raised.data).toEqual({ updateUserSystemRole: { id: person.id, role: 'administrator' } })
    expect(await namesFor(person)).toContain('admin')
    const lowered = await setRole(admin, person.id, 'user')
    expect(lowered.data.updateUserSystemRole.role).toBe('user')
    expect(await namesFor(person)).toEqual(['riser'])
  })

  test('[identity.update-system-role] any other value is refused, and so is an unknown user', async () => {
    const person = await seedUser(service.sql, 'valued')
    for (const role of ['', 'owner', 'Administrator', 'administrator ', 'root', 'USER'])
      expect((await setRole(admin, person.id, role)).error).toBe('role must be one of user, administrator')
    for (const id of [randomUUID(), 'nobody'])
      expect((await setRole(admin, id, 'user')).error).toBe('user not found')
    const { rows } = await service.sql.query('select role from users where id = $1', [person.id])
    expect(rows).toEqual([{ role: 'user' }])
  })

  test('[identity.update-system-role] is refused to all but administrators, even for oneself', async () => {
    const project = await seedProject(service.sql, 'climbers')
    const owner = await seedUser(service.sql, 'climber')
    await seedMember(service.sql, owner, 'owner', { projectId: project.id })
    for (const [id, role] of [
      [owner.id, 'administrator'],
      [admin.id, 'user'],
      [owner.id, 'user'],
    ] as const) {
      const answer = await setRole(owner, id, role)
      expect(answer.errors[0]?.extensions?.code).toBe('forbidden')
      expect(answer.data).toBeNull()
    }
    const { rows } = await service.sql.query('select id, role from users where id = any($1::uuid[])', [
      [owner.id, admin.id],
    ])
    expect(rows).toEqual(
      expect.arrayContaining([
        { id: owner.id, role: 'user' },
        { id: admin.id, role: 'administrator' },
      ]),
    )
    expect(await auditRowsAbout(owner.id)).toEqual([])
  })

  test("[identity.update-system-role] each change leaves one row in the system's audit chain", async () => {
    const person = await seedUser(service.sql, 'audited')
    await setRole(admin, person.id, 'administrator')
    await setRole(admin, person.id, 'user')
    const row = (before: string, after: string) => ({
      entity_type: 'user',
      action: 'update',
      user_id: admin.id,
      changes: { role: { before, after } },
    })
    expect(await auditRowsAbout(person.id)).toEqual([
      row('user', 'administrator'),
      row('administrator', 'user'),
    ])
  })
})
