// Plays the requests for groups that Microsoft Entra ID sends, as published in "Develop and plan provisioning for a SCIM
// endpoint", section "Group operations"
// (https://learn.microsoft.com/entra/identity/app-provisioning/use-scim-to-provision-users-and-groups), and the newer form of a
// removal from "Known issues and resolutions with SCIM 2.0 protocol compliance"
// (https://learn.microsoft.com/entra/identity/app-provisioning/application-provisioning-config-problem-scim-compatibility).
// The requests were not sent by the real service.
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
beforeAll(async () => {
  token = (await createScimToken(service, admin, { name: 'entra' })).token
})

/** The body of "Create Group". */
const createBody = () => ({
  schemas: [groupSchema, 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group'],
  externalId: randomUUID(),
  displayName: `displayName ${randomUUID()}`,
  meta: { resourceType: 'Group' },
})
const patchBody = (...Operations: unknown[]) => ({ schemas: [patchSchema], Operations })
const createUser = async (): Promise<string> => (await users.post(newUser())).body.id
const membersIn = async (id: string): Promise<string[]> => {
  const { members = [] } = (await groups.get(`/Groups/${id}`)).body as { members?: { value: string }[] }
  return members.map(({ value }) => value).toSorted()
}
const searchByName = (displayName: string) =>
  groups.get(
    `/Groups?excludedAttributes=members&filter=${encodeURIComponent(`displayName eq "${displayName}"`)}`,
  )

describe('[scim.groups-entra] the lifecycle of a group', () => {
  test('a group is searched for by its name, created without members, and found', async () => {
    const body = createBody()
    const missing = await searchByName(body.displayName)
    expect([missing.status, missing.body.totalResults, missing.body.Resources]).toEqual([200, 0, []])
    const created = await groups.post(body)
    expect([created.status, created.body]).toMatchObject([
      201,
      {
        schemas: [groupSchema],
        externalId: body.externalId,
        displayName: body.displayName,
        meta: { resourceType: 'Group' },
      },
    ])
    const found = await searchByName(body.displayName)
    expect([found.body.totalResults, found.body.Resources]).toEqual([1, [created.body]])
    const byExternalId = await groups.search(`externalId eq "${body.externalId}"`)
    expect(byExternalId.body.Resources).toEqual([created.body])
    const read = await groups.get(`/Groups/${created.body.id}?excludedAttributes=members`)
    expect([read.status, read.body]).toEqual([200, created.body])
  })

  test('the name is replaced', async () => {
    const { body } = await groups.post(createBody())
    const value = `${randomUUID()}updatedDisplayName`
    const patched = await groups.patch(body.id, patchBody({ op: 'Replace', path: 'displayName', value }))
    expect([patched.status, patched.body.displayName, patched.body.members]).toEqual([200, value, undefined])
  })

  test.each([
    ['a list', (id: string) => ({ op: 'Remove', path: 'members', value: [{ $ref: null, value: id }] })],
    ['a filter', (id: string) => ({ op: 'remove', path: `members[value eq "${id}"]` })],
  ])('members are added, and removed with %s', async (_name, createRemoval) => {
    const { body } = await groups.post(createBody())
    const [ann, bob] = [await createUser(), await createUser()]
    for (const value of [ann, bob]) {
      const add = { op: 'Add', path: 'members', value: [{ $ref: null, value }] }
      expect((await groups.patch(body.id, patchBody(add))).status).toBe(200)
    }
    expect(await membersIn(body.id)).toEqual([ann, bob].toSorted())
    expect((await groups.patch(body.id, patchBody(createRemoval(ann)))).status).toBe(200)
    expect(await membersIn(body.id)).toEqual([bob])
    // A repeated removal succeeds: Entra ID repeats requests after a failure.
    expect((await groups.patch(body.id, patchBody(createRemoval(ann)))).status).toBe(200)
  })

  test('a group is deleted', async () => {
    const { body } = await groups.post(createBody())
    const removed = await groups.remove(body.id, { 'content-type': 'application/scim+json' })
    expect([removed.status, removed.body]).toEqual([204, null])
    expect((await groups.get(`/Groups/${body.id}?excludedAttributes=members`)).status).toBe(404)
  })
})
