// Tests how groups are changed and deleted over SCIM, and what these changes leave behind: members, roles and audit rows.
import { beforeAll, describe, expect, test } from 'vitest'
import { systemChain } from '../../platform/audit/entry.ts'
import { createRule } from '../../../test/kit/groups.ts'
import { waitForLockWait } from '../../../test/kit/locks.ts'
import { useProject } from '../../../test/kit/project.ts'
import { createScimClient, createScimToken, membersOf, newGroup, newUser } from '../../../test/kit/scim.ts'

const { service, admin, project } = useProject()
let token = { id: '', token: '' }
const getService = () => service
const getToken = () => token.token
const users = createScimClient(getService, getToken)
const groups = createScimClient(getService, getToken, '/Groups')
let [ann, bob, cal] = ['', '', '']
beforeAll(async () => {
  token = await createScimToken(service, admin, { name: 'entra' })
  ;[ann, bob, cal] = [await createUser(), await createUser(), await createUser()]
})

const createUser = async (): Promise<string> => (await users.post(newUser())).body.id
const create = async (change: Record<string, unknown> = {}): Promise<string> => {
  const { status, body } = await groups.post(newGroup(change))
  expect([status, body.detail]).toEqual([201, undefined])
  return body.id
}
const versionOf = async (id: string): Promise<string> =>
  (await groups.get(`/Groups/${id}?excludedAttributes=members`)).headers.get('etag') as string
const namesById = () =>
  new Map([
    [ann, 'ann'],
    [bob, 'bob'],
    [cal, 'cal'],
  ])
const membersIn = async (id: string): Promise<string[]> => {
  const { members = [] } = (await groups.get(`/Groups/${id}`)).body as { members?: { value: string }[] }
  return members.map(({ value }) => namesById().get(value) ?? value).toSorted((a, b) => a.localeCompare(b))
}
const rolesOf = async (id: string): Promise<string[]> =>
  (
    await service.sql.query<{ role: string }>('select role from user2projects where user_id = $1', [id])
  ).rows.map(({ role }) => role)
type Row = {
  chain_id: string
  entity_type: string
  action: string
  principal_type: string
  principal_id: string
  metadata: Record<string, unknown>
}
const rowsOf = async (id: string): Promise<Row[]> =>
  (await service.sql.query<Row>('select * from audit_logs where entity_id = $1 order by seq', [id])).rows
const actionsOf = async (id: string) =>
  (await rowsOf(id)).map(({ entity_type, action }) => `${entity_type} ${action}`)

describe('changing', () => {
  test('[scim.groups-replace] PUT replaces the name and the members; an absent externalId stays', async () => {
    const id = await create({ externalId: 'e', members: membersOf(ann, bob) })
    const version = await versionOf(id)
    const { status, body, headers } = await groups.put(id, {
      displayName: `New ${id}`,
      members: membersOf(bob, cal),
    })
    expect([status, body.displayName, body.externalId]).toEqual([200, `New ${id}`, 'e'])
    expect(headers.get('etag')).not.toBe(version)
    expect(body.members).toHaveLength(2)
    expect(await membersIn(id)).toEqual(['bob', 'cal'])
    const emptied = await groups.put(id, { displayName: `New ${id}`, externalId: null })
    expect([emptied.body.members, emptied.body.externalId]).toEqual([undefined, undefined])
    expect(await membersIn(id)).toEqual([])
  })

  test('[scim.groups-patch] PATCH adds and removes members, and returns them only if attributes names them', async () => {
    const id = await create({ members: membersOf(ann) })
    const added = await groups.patch(id, [{ op: 'add', path: 'members', value: membersOf(ann, bob, cal) }])
    expect([added.status, added.body.members, added.headers.get('etag')]).toEqual([
      200,
      undefined,
      await versionOf(id),
    ])
    expect(await membersIn(id)).toEqual(['ann', 'bob', 'cal'])
    await groups.patch(id, [{ op: 'remove', path: `members[value eq "${ann}"]` }])
    const patch = { Operations: [{ op: 'remove', path: 'members', value: membersOf(bob) }] }
    const { body } = await groups.send('PATCH', `/Groups/${id}?attributes=members`, { body: patch })
    expect(body.members).toEqual([{ value: cal, type: 'User' }])
    await groups.patch(id, [{ op: 'remove', path: 'members' }])
    expect(await membersIn(id)).toEqual([])
  })

  test('[scim.groups-patch] a change without a difference keeps the version', async () => {
    const id = await create({ members: membersOf(ann) })
    const version = await versionOf(id)
    const name = (await groups.get(`/Groups/${id}`)).body.displayName
    for (const operation of [
      { op: 'add', path: 'members', value: membersOf(ann) },
      { op: 'remove', path: 'members', value: membersOf(bob) },
      { op: 'replace', path: 'members', value: membersOf(ann) },
      { op: 'replace', value: { id, displayName: name } },
      { op: 'replace', path: 'description', value: 'x' },
    ])
      expect((await groups.patch(id, [operation])).headers.get('etag')).toBe(version)
    expect(await actionsOf(id)).toEqual(['provisionedGroup create'])
  })

  test('[scim.groups-etag] a change that is based on another version answers 412 and changes nothing', async () => {
    const id = await create({ members: membersOf(ann) })
    const outdated = { 'if-match': 'W/"77"' }
    const answers = [
      await groups.put(id, newGroup(), outdated),
      await groups.patch(id, [{ op: 'remove', path: 'members' }], outdated),
      await groups.remove(id, outdated),
    ]
    expect(answers.map(({ status }) => status)).toEqual([412, 412, 412])
    expect(answers[0]?.body.detail).toBe(
      'the group has changed since the version in If-Match; read the group again and repeat the change',
    )
    expect(await membersIn(id)).toEqual(['ann'])
    const current = { 'if-match': await versionOf(id) }
    expect((await groups.patch(id, [{ op: 'remove', path: 'members' }], current)).status).toBe(200)
    expect((await groups.remove(id, { 'if-match': '*' })).status).toBe(204)
  })

  test('[scim.groups-patch-limits] a hostile patch is refused before the group is locked', async () => {
    const id = await create()
    const client = await service.sql.connect()
    await client.query('begin')
    await client.query('select from scim_groups where id = $1 for update', [id])
    const many = Array.from({ length: 101 }, () => ({ op: 'replace', path: 'displayName', value: 'x' }))
    for (const operations of [many, [{ op: 'remove', path: 'members[value co "a"]' }]])
      expect((await groups.patch(id, operations)).status).toBe(400)
    await client.query('rollback')
    client.release()
  })
})

describe('members and their roles', () => {
  test('[scim.groups-members] members get and lose the roles of the group in the same request', async () => {
    const id = await create({ members: membersOf(ann) })
    await createRule(service, admin, { groupId: id, projectId: project.id, role: 'tester' })
    expect([await rolesOf(ann), await rolesOf(bob)]).toEqual([['tester'], []])
    await groups.patch(id, [
      { op: 'remove', path: `members[value eq "${ann}"]` },
      { op: 'add', path: 'members', value: membersOf(bob) },
    ])
    expect([await rolesOf(ann), await rolesOf(bob)]).toEqual([[], ['tester']])
    await groups.remove(id)
    expect(await rolesOf(bob)).toEqual([])
  })

  test('[scim.groups-members] a deleted user leaves all groups and loses their roles', async () => {
    const leaver = await createUser()
    const [first, second] = [
      await create({ members: membersOf(ann, leaver) }),
      await create({ members: membersOf(leaver) }),
    ]
    await createRule(service, admin, { groupId: first, projectId: project.id, role: 'tester' })
    const version = await versionOf(first)
    expect((await users.remove(leaver, { 'if-match': 'W/"9"' })).status).toBe(412)
    expect(await rolesOf(leaver)).toEqual(['tester'])
    expect((await users.remove(leaver)).status).toBe(204)
    expect(await rolesOf(leaver)).toEqual([])
    expect([await membersIn(first), await membersIn(second)]).toEqual([['ann'], []])
    expect(await versionOf(first)).not.toBe(version)
    await groups.remove(first)
  })

  test('[scim.groups-delete] a deleted group is gone with its members, and its name is free again', async () => {
    const { body } = await groups.post(newGroup({ members: membersOf(ann) }))
    expect(await groups.remove(body.id)).toMatchObject({ status: 204, body: null })
    expect((await groups.get(`/Groups/${body.id}`)).status).toBe(404)
    expect((await groups.remove(body.id)).status).toBe(404)
    expect((await groups.post(newGroup({ displayName: body.displayName }))).status).toBe(201)
    expect((await users.get(`/Users/${ann}`)).status).toBe(200)
  })
})

describe('audit rows and rights', () => {
  test('[scim.groups-audit] every change has a row in the chain of the system, which names the token', async () => {
    const id = await create({ members: membersOf(ann) })
    await groups.patch(id, [{ op: 'add', path: 'members', value: membersOf(bob) }])
    await groups.patch(id, [{ op: 'replace', path: 'displayName', value: `X ${id}` }])
    await groups.remove(id)
    const rows = await rowsOf(id)
    expect(rows.map(({ entity_type, action }) => `${entity_type} ${action}`)).toEqual([
      'provisionedGroup create',
      'provisionedGroup update',
      'provisionedGroup update',
      'provisionedGroup delete',
    ])
    for (const row of rows)
      expect(row).toMatchObject({
        chain_id: systemChain,
        principal_type: 'system',
        principal_id: `scim token ${token.id}`,
        metadata: { scimToken: 'entra' },
      })
    expect(rows[1]?.metadata).toMatchObject({ joined: 1, joinedIds: [bob] })
  })

  test('[scim.groups-audit] roles that members get have a row, and a deleted user has the rows of the groups', async () => {
    const leaver = await createUser()
    const id = await create()
    const ruleId = await createRule(service, admin, { groupId: id, projectId: project.id, role: 'tester' })
    await groups.patch(id, [{ op: 'add', path: 'members', value: membersOf(leaver) }])
    await users.remove(leaver)
    expect((await actionsOf(id)).slice(1)).toEqual(['provisionedGroup update', 'provisionedGroup update'])
    const rows = (await rowsOf(ruleId)).filter(({ action }) => action !== 'create')
    expect(rows.map(({ entity_type, action }) => `${entity_type} ${action}`)).toEqual([
      'groupRule grant',
      'groupRule revoke',
    ])
    // The chain of the project names the id of the token, but not its name: maintainers read it.
    for (const row of rows) {
      expect(row).toMatchObject({ principal_id: `scim token ${token.id}`, metadata: { userIds: [leaver] } })
      expect(row.metadata).not.toHaveProperty('scimToken')
    }
  })

  test('[scim.groups-audit] if the row cannot be written, nothing changes', async () => {
    const id = await create({ members: membersOf(ann) })
    await service.sql.query(`
      create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$;
      create trigger refuse before insert on audit_logs for each row execute function refuse()`)
    const answers = [
      await groups.patch(id, [{ op: 'remove', path: 'members' }]),
      await groups.remove(id),
      await groups.post(newGroup({ displayName: `Never ${id}` })),
    ]
    await service.sql.query('drop trigger refuse on audit_logs; drop function refuse()')
    expect(answers.map(({ status }) => status)).toEqual([500, 500, 500])
    expect(await membersIn(id)).toEqual(['ann'])
    expect((await groups.search(`displayName eq "Never ${id}"`)).body.totalResults).toBe(0)
  })

  test('[scim.token-refused] a token that is revoked while its request waits changes no group', async () => {
    const own = await createScimToken(service, admin, { name: 'short-lived' })
    const revoked = createScimClient(getService, () => own.token, '/Groups')
    const id = await create({ members: membersOf(ann) })
    const holder = await service.sql.connect()
    await holder.query('begin')
    await holder.query('select from scim_groups where id = $1 for update', [id])
    const waiting = revoked.patch(id, [{ op: 'remove', path: 'members' }])
    await waitForLockWait(service.sql)
    await service.query(admin, 'mutation($id: ID!) { revokeScimToken(id: $id) { id } }', { id: own.id })
    await holder.query('rollback')
    holder.release()
    expect((await waiting).status).toBe(401)
    expect(await membersIn(id)).toEqual(['ann'])
  })
})
