// Plays the requests for groups that Okta sends, as published in "Okta and SCIM Version 2.0", section "SCIM Group operations"
// (https://developer.okta.com/docs/api/openapi/okta-scim/guides/scim-20). The requests were not sent by the real service.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { useProject } from '../../../test/kit/project.ts'
import {
  createScimClient,
  createScimToken,
  groupSchema,
  newUser,
  patchSchema,
} from '../../../test/kit/scim.ts'

const { service, admin } = useProject()
let token = ''
const getService = () => service
const getToken = () => token
const users = createScimClient(getService, getToken)
const groups = createScimClient(getService, getToken, '/Groups')
const display = 'test.user@okta.local'
let [ann, bob] = ['', '']
beforeAll(async () => {
  token = (await createScimToken(service, admin, { name: 'okta' })).token
  ;[ann, bob] = [(await users.post(newUser())).body.id, (await users.post(newUser())).body.id]
})

/** The body of "Create Groups". */
const createBody = (...members: string[]) => ({
  schemas: [groupSchema],
  displayName: `Test SCIMv2 ${randomUUID()}`,
  members: members.map((value) => ({ value, display })),
})
const patch = (id: string, ...Operations: unknown[]) =>
  groups.patch(id, { schemas: [patchSchema], Operations })
const membersIn = async (id: string): Promise<string[]> => {
  const { members = [] } = (await groups.get(`/Groups/${id}`)).body as { members?: { value: string }[] }
  return members.map(({ value }) => value).toSorted()
}

describe('[scim.groups-okta] the lifecycle of a group', () => {
  test('a group is pushed, read and imported', async () => {
    const body = createBody()
    const created = await groups.post(body)
    expect([created.status, created.body]).toMatchObject([
      201,
      { schemas: [groupSchema], displayName: body.displayName, meta: { resourceType: 'Group' } },
    ])
    expect((await groups.get(`/Groups/${created.body.id}`)).body).toEqual(created.body)
    const imported = (await groups.get('/Groups?startIndex=1&count=100')).body
    expect(imported.Resources).toContainEqual(created.body)
    for (const number of [imported.totalResults, imported.itemsPerPage, imported.startIndex])
      expect(number).toBeTypeOf('number')
  })

  test('the name is replaced without a path, with the id in the value, before every change of the members', async () => {
    const { id } = (await groups.post(createBody())).body
    const displayName = `Test SCIMv20 ${randomUUID()}`
    const renamed = await patch(id, { op: 'replace', value: { id, displayName } })
    expect([renamed.status, renamed.body]).toMatchObject([200, { id, displayName }])
    const again = await patch(id, { op: 'replace', value: { id, displayName } })
    expect([again.status, again.headers.get('etag')]).toEqual([200, renamed.headers.get('etag')])
  })

  test('one patch removes a member and adds another, and a full push replaces all', async () => {
    const { id } = (await groups.post(createBody(ann))).body
    const changed = await patch(
      id,
      { op: 'remove', path: `members[value eq "${ann}"]` },
      { op: 'add', path: 'members', value: [{ value: bob, display }] },
    )
    expect(changed.status).toBe(200)
    expect(await membersIn(id)).toEqual([bob])
    const value = [
      { value: ann, display },
      { value: bob, display },
    ]
    expect((await patch(id, { op: 'replace', path: 'members', value })).status).toBe(200)
    expect(await membersIn(id)).toEqual([ann, bob].toSorted())
  })

  test('an integration of the wizard sends the name and all members with a PUT', async () => {
    const body = createBody(ann)
    const { id } = (await groups.post(body)).body
    const displayName = `Test SCIMv20 ${randomUUID()}`
    const replaced = await groups.put(id, {
      ...createBody(bob),
      id,
      displayName,
      meta: { resourceType: 'Group' },
    })
    expect([replaced.status, replaced.body]).toMatchObject([200, { id, displayName }])
    expect(await membersIn(id)).toEqual([bob])
  })

  test('an unlinked group is deleted', async () => {
    const { id } = (await groups.post(createBody(ann))).body
    expect((await groups.remove(id)).status).toBe(204)
    expect((await groups.get(`/Groups/${id}`)).status).toBe(404)
  })
})
