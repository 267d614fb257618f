// Plays the requests that Microsoft Entra ID sends, as published in "Develop and plan provisioning for a SCIM endpoint"
// (https://learn.microsoft.com/entra/identity/app-provisioning/use-scim-to-provision-users-and-groups) and "Known issues and
// resolutions with SCIM 2.0 protocol compliance"
// (https://learn.microsoft.com/entra/identity/app-provisioning/application-provisioning-config-problem-scim-compatibility).
// The requests were not sent by the real service.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { useProject } from '../../../test/kit/project.ts'
import {
  createScimClient,
  createScimToken,
  errorSchema,
  patchSchema,
  userSchema,
} from '../../../test/kit/scim.ts'

const { service, admin } = useProject()
let token = ''
const scim = createScimClient(
  () => service,
  () => token,
)
const listSchema = 'urn:ietf:params:scim:api:messages:2.0:ListResponse'
const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'

beforeAll(async () => {
  token = (await createScimToken(service, admin, { name: 'entra' })).token
})

/** The body of "Create User". */
const createBody = (change: Record<string, unknown> = {}) => ({
  schemas: [userSchema, enterprise],
  externalId: randomUUID(),
  userName: `Test_User_${randomUUID()}`,
  active: true,
  emails: [{ primary: true, type: 'work', value: `Test_User_${randomUUID()}@testuser.com` }],
  meta: { resourceType: 'User' },
  name: { formatted: 'givenName familyName', familyName: 'familyName', givenName: 'givenName' },
  roles: [],
  ...change,
})
const patchBody = (...Operations: unknown[]) => ({ schemas: [patchSchema], Operations })
const isActive = async (id: string) => (await service.query({ id }, '{ me { id } }')).error === null

describe('[scim.entra] the lifecycle of a user', () => {
  test('the connection test searches for a user that does not exist', async () => {
    const { status, body } = await scim.search(`userName eq "${randomUUID()}"`)
    expect([status, body]).toEqual([
      200,
      { schemas: [listSchema], totalResults: 0, startIndex: 1, itemsPerPage: 0, Resources: [] },
    ])
  })

  test('a user is searched for, created, found and read', async () => {
    const body = createBody()
    expect((await scim.search(`externalId eq "${body.externalId}"`)).body.totalResults).toBe(0)
    const created = await scim.post(body)
    expect([created.status, created.headers.get('content-type')]).toEqual([
      201,
      'application/scim+json; charset=utf-8',
    ])
    expect(created.body).toMatchObject({
      schemas: [userSchema],
      id: body.externalId,
      externalId: body.externalId,
      userName: body.userName,
      name: body.name,
      active: true,
      emails: body.emails,
      meta: { resourceType: 'User' },
    })
    for (const filter of [
      `userName eq "${body.userName}"`,
      `externalId eq "${body.externalId}"`,
      `emails[type eq "work"].value eq "${body.emails[0]?.value}"`,
    ]) {
      const found = (await scim.search(filter)).body
      expect([filter, found.totalResults, found.Resources[0].id]).toEqual([filter, 1, body.externalId])
    }
    expect((await scim.get(`/Users/${body.externalId}`)).body).toEqual(created.body)
    const missing = await scim.get('/Users/5171a35d82074e068ce2')
    expect([missing.status, missing.body]).toMatchObject([404, { schemas: [errorSchema], status: '404' }])
  })

  test('the older form of a patch has one operation for each attribute, with capital letters', async () => {
    const { body } = await scim.post(createBody())
    const { status, body: patched } = await scim.patch(
      body.id,
      patchBody(
        { op: 'Replace', path: 'displayName', value: 'Pvlo' },
        { op: 'Replace', path: 'emails[type eq "work"].value', value: 'TestBcwqnm@test.microsoft.com' },
        { op: 'Replace', path: 'name.givenName', value: 'Gtfd' },
        { op: 'Replace', path: 'name.familyName', value: 'Pkqf' },
        { op: 'Add', path: 'nickName', value: 'Babs' },
        { op: 'Add', path: 'manager', value: [{ $ref: 'http://x/scim/Users/y', value: 'y' }] },
        { op: 'Replace', path: `${enterprise}:employeeNumber`, value: 'Eqpj' },
      ),
    )
    expect([status, patched]).toMatchObject([
      200,
      {
        displayName: 'Pvlo',
        emails: [{ type: 'work', value: 'TestBcwqnm@test.microsoft.com', primary: true }],
        name: { formatted: 'givenName familyName', givenName: 'Gtfd', familyName: 'Pkqf' },
      },
    ])
  })

  test('the newer form of a patch (aadOptscim062020) has an operation without a path', async () => {
    const { body } = await scim.post(createBody({ emails: [] }))
    const { body: patched } = await scim.patch(
      body.id,
      patchBody(
        { op: 'replace', path: 'emails[type eq "work"].value', value: 'TestMhvaes@test.microsoft.com' },
        {
          op: 'replace',
          value: {
            displayName: 'Bjfe',
            'name.givenName': 'Kkom',
            'name.familyName': 'Unua',
            [`${enterprise}:employeeNumber`]: 'Aklq',
          },
        },
      ),
    )
    expect(patched).toMatchObject({
      displayName: 'Bjfe',
      name: { givenName: 'Kkom', familyName: 'Unua' },
      emails: [{ type: 'work', value: 'TestMhvaes@test.microsoft.com' }],
    })
  })

  test('the user name is replaced', async () => {
    const { body } = await scim.post(createBody())
    const value = `${randomUUID()}@testuser.com`
    const patched = await scim.patch(body.id, patchBody({ op: 'Replace', path: 'userName', value }))
    expect([patched.status, patched.body.userName]).toEqual([200, value])
  })

  test.each([
    ['as text', 'Replace', 'False', 'True'],
    ['as a boolean', 'replace', false, true],
  ])('a user is disabled and enabled %s, and found in both states', async (_name, op, off, on) => {
    const { body } = await scim.post(createBody())
    const filter = `userName eq "${body.userName}"`
    expect(await isActive(body.id)).toBe(true)
    expect((await scim.patch(body.id, patchBody({ op, path: 'active', value: off }))).body.active).toBe(false)
    expect([(await scim.search(filter)).body.Resources[0].active, await isActive(body.id)]).toEqual([
      false,
      false,
    ])
    expect((await scim.patch(body.id, patchBody({ op, path: 'active', value: on }))).body.active).toBe(true)
    expect([(await scim.search(filter)).body.Resources[0].active, await isActive(body.id)]).toEqual([
      true,
      true,
    ])
  })

  test('a user is deleted', async () => {
    const { body } = await scim.post(createBody())
    expect((await scim.remove(body.id, { 'content-type': 'application/scim+json' })).status).toBe(204)
    expect([(await scim.get(`/Users/${body.id}`)).status, await isActive(body.id)]).toEqual([404, false])
  })

  test('the example of another matching attribute has null for attributes without a value', async () => {
    const { status, body } = await scim.post({
      ...createBody({ userName: `jyoung-${randomUUID()}@testuser.com`, displayName: 'Joy Young' }),
      addresses: null,
      phoneNumbers: null,
      preferredLanguage: null,
      title: null,
      department: null,
      manager: null,
    })
    expect([status, body.displayName]).toEqual([201, 'Joy Young'])
  })

  test('the schemas are a list', async () => {
    const { body } = await scim.get('/Schemas')
    expect(body).toMatchObject({ schemas: [listSchema], totalResults: 2 })
    expect(JSON.stringify(body)).not.toContain('null')
  })
})
