// Tests how groups are created and read over SCIM.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { useProject } from '../../../test/kit/project.ts'
import {
  createScimClient,
  createScimToken,
  errorSchema,
  groupSchema,
  membersOf,
  newGroup,
  newUser,
} from '../../../test/kit/scim.ts'

const { service, admin, person } = useProject()
let token = ''
const getService = () => service
const getToken = () => token
const users = createScimClient(getService, getToken)
const groups = createScimClient(getService, getToken, '/Groups')
let [ann, bob] = ['', '']
beforeAll(async () => {
  token = (await createScimToken(service, admin)).token
  ;[ann, bob] = [(await users.post(newUser())).body.id, (await users.post(newUser())).body.id]
})

const create = async (change: Record<string, unknown> = {}) => {
  const sent = newGroup(change)
  const answer = await groups.post(sent)
  expect([answer.status, answer.body.detail]).toEqual([201, undefined])
  return { ...answer, id: answer.body.id as string, sent }
}
const refusalOf = ({ status, body }: { status: number; body: Record<string, unknown> }) => [
  status,
  body['scimType'],
]
const idsOf = (body: { members?: { value: string }[] }) =>
  (body.members ?? []).map(({ value }) => value).toSorted()

describe('creating', () => {
  test('[scim.groups-create] a group gets an id, a location and a version, and keeps its members', async () => {
    const { id, sent, body, headers } = await create({
      externalId: 'Team-1',
      members: [{ value: ann.toUpperCase(), display: 'Ann', type: 'User' }, { value: bob }, { value: ann }],
      description: 'ignored',
    })
    expect(body).toEqual({
      schemas: [groupSchema],
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      externalId: 'Team-1',
      displayName: sent.displayName,
      members: [ann, bob].toSorted().map((value) => ({ value, type: 'User' })),
      meta: {
        resourceType: 'Group',
        created: expect.any(String),
        lastModified: expect.any(String),
        location: expect.stringMatching(new RegExp(`/scim/v2/Groups/${id}$`)),
        version: expect.stringMatching(/^W\/"\d+"$/),
      },
    })
    expect([headers.get('location'), headers.get('etag')]).toEqual([body.meta.location, body.meta.version])
    expect(headers.get('cache-control')).toBe('no-store')
  })

  test('[scim.groups-create] a group needs a displayName, and may have no members', async () => {
    expect((await create()).body.members).toBeUndefined()
    for (const displayName of [undefined, null, '', ' ', 7, 'a\u0000', 'x'.repeat(201)])
      expect(refusalOf(await groups.post(newGroup({ displayName })))).toEqual([400, 'invalidValue'])
  })

  test('[scim.groups-members] a member must be a SCIM user; nested groups are refused with the remedy', async () => {
    const carl = await person('carl')
    const { id } = await create()
    const unknown = [randomUUID(), carl.id, id]
    for (const value of unknown) {
      const answer = await groups.post(newGroup({ members: membersOf(ann, value) }))
      expect([refusalOf(answer), answer.body.detail]).toEqual([
        [400, 'invalidValue'],
        `the member ${value} is not a SCIM user; create the user first, and use its id as the value of the member`,
      ])
      const patched = await groups.patch(id, [{ op: 'add', path: 'members', value: membersOf(value) }])
      expect(refusalOf(patched)).toEqual([400, 'invalidValue'])
    }
    const nested = await groups.post(newGroup({ members: [{ value: id, type: 'Group' }] }))
    expect([refusalOf(nested), nested.body.detail]).toEqual([
      [400, 'invalidValue'],
      'members.type must be User: nested groups are not supported; add their people',
    ])
    expect((await groups.get(`/Groups/${id}`)).body.members).toBeUndefined()
  })

  test('[scim.groups-unique] a second group with the same displayName, in any case, is refused', async () => {
    const { id } = await create({ displayName: 'Team Blue' })
    const second = await groups.post(newGroup({ displayName: 'team BLUE' }))
    expect([refusalOf(second), second.body.detail]).toEqual([
      [409, 'uniqueness'],
      'another group has this displayName; comparisons ignore case',
    ])
    const other = await create()
    const rename = [{ op: 'replace', path: 'displayName', value: 'TEAM blue' }]
    expect(refusalOf(await groups.patch(other.id, rename))).toEqual([409, 'uniqueness'])
    expect(refusalOf(await groups.put(other.id, { displayName: 'TEAM blue' }))).toEqual([409, 'uniqueness'])
    expect((await groups.patch(id, rename)).body.displayName).toBe('TEAM blue')
  })

  test('[scim.groups-unique] of concurrent requests for the same name, one succeeds', async () => {
    const body = newGroup()
    const answers = await Promise.all(Array.from({ length: 6 }, () => groups.post(body)))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      201, 409, 409, 409, 409, 409,
    ])
  })

  test('[scim.groups-create] a body has at most 4 MiB and 50,000 members', async () => {
    const members = Array.from({ length: 50_001 }, () => ({ value: ann }))
    expect(refusalOf(await groups.post(newGroup({ members })))).toEqual([400, 'invalidValue'])
    expect(idsOf((await create({ members: members.slice(1) })).body)).toEqual([ann])
    expect((await groups.post(newGroup({ note: 'x'.repeat(4_200_000) }))).status).toBe(413)
    expect((await groups.send('POST', '/Groups', { body: '{', headers: {} })).body.scimType).toBe(
      'invalidSyntax',
    )
  })
})

describe('reading', () => {
  test('[scim.groups-read] one group, with selected attributes; the members are read only if they are returned', async () => {
    const { id, body } = await create({ members: membersOf(ann) })
    expect((await groups.get(`/Groups/${id.toUpperCase()}`)).body).toEqual(body)
    expect((await groups.get(`/Groups/${id}?attributes=displayName`)).body).toEqual({
      schemas: [groupSchema],
      id,
      displayName: body.displayName,
    })
    expect((await groups.get(`/Groups/${id}?attributes=members.value`)).body.members).toEqual([
      { value: ann },
    ])
    service.statements.length = 0
    const { members: _members, ...others } = body
    expect((await groups.get(`/Groups/${id}?excludedAttributes=members`)).body).toEqual(others)
    expect(service.statements.filter((text) => text.includes('scim_group_members'))).toEqual([])
  })

  test('[scim.groups-etag] a version that the client has answers 304, and a change of the members is a new version', async () => {
    const { id, body } = await create({ members: membersOf(ann) })
    const { version } = body.meta as { version: string }
    const read = () => groups.get(`/Groups/${id}`, { 'if-none-match': version })
    const same = await read()
    expect([same.status, same.body, same.headers.get('etag')]).toEqual([304, null, version])
    // The number of members stays the same.
    const patched = await groups.patch(id, [{ op: 'replace', path: 'members', value: membersOf(bob) }])
    const next = await read()
    expect([next.status, next.headers.get('etag')]).toEqual([200, patched.headers.get('etag')])
  })

  test('[scim.groups-read] an unknown or malformed id answers 404 for every method', async () => {
    for (const id of [randomUUID(), 'x', ann]) {
      const answer = await groups.get(`/Groups/${id}`)
      expect([answer.status, answer.body]).toEqual([
        404,
        { schemas: [errorSchema], status: '404', detail: 'group not found' },
      ])
      expect((await groups.put(id, newGroup())).status).toBe(404)
      expect((await groups.patch(id, [{ op: 'remove', path: 'members' }])).status).toBe(404)
      expect((await groups.remove(id)).status).toBe(404)
    }
  })

  test('[scim.discovery] the discovery documents describe groups', async () => {
    expect((await groups.get('/ResourceTypes/Group')).body).toMatchObject({
      id: 'Group',
      endpoint: '/Groups',
      schema: groupSchema,
    })
    const { body } = await groups.get(`/Schemas/${groupSchema.toUpperCase()}`)
    expect([body.id, body.attributes.map(({ name }: { name: string }) => name)]).toEqual([
      groupSchema,
      ['displayName', 'members'],
    ])
  })
})
