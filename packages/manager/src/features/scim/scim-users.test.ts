// Tests how people are created and read over SCIM.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { useProject } from '../../../test/kit/project.ts'
import {
  createScimClient,
  createScimToken,
  errorSchema,
  groupSchema,
  newUser,
  userSchema,
} from '../../../test/kit/scim.ts'

const { service, admin, person, project } = useProject()
let token = ''
const scim = createScimClient(
  () => service,
  () => token,
)
beforeAll(async () => {
  token = (await createScimToken(service, admin)).token
})

const create = async (change: Record<string, unknown> = {}) => {
  const body = newUser(change)
  const answer = await scim.post(body)
  expect([answer.status, answer.body.detail]).toEqual([201, undefined])
  return { ...answer, id: answer.body.id as string, sent: body }
}
const stored = async (id: string) =>
  (await service.sql.query('select * from users where id = $1', [id])).rows[0] as Record<string, unknown>
const refusalOf = ({ status, body }: { status: number; body: Record<string, unknown> }) => [
  status,
  body['scimType'],
]

describe('creating', () => {
  test('[scim.create] a person gets the id of the subject, a location and a version, and can have roles before the first sign-in', async () => {
    const { id, sent, body, headers } = await create({
      externalId: randomUUID().toUpperCase(),
      name: { givenName: 'Ann', familyName: 'Archer' },
      emails: [{ value: 'ann@example.com', type: 'work', primary: true }],
      title: 'ignored',
    })
    expect(id).toBe(sent.externalId.toLowerCase())
    expect(body).toEqual({
      schemas: [userSchema],
      id,
      externalId: sent.externalId,
      userName: sent['userName'],
      displayName: sent['displayName'],
      name: { givenName: 'Ann', familyName: 'Archer' },
      emails: [{ value: 'ann@example.com', type: 'work', primary: true }],
      active: true,
      meta: {
        resourceType: 'User',
        created: expect.any(String),
        lastModified: expect.any(String),
        location: expect.stringMatching(new RegExp(`/scim/v2/Users/${id}$`)),
        version: 'W/"1"',
      },
    })
    expect([headers.get('location'), headers.get('etag')]).toEqual([body.meta.location, 'W/"1"'])
    expect(await stored(id)).toMatchObject({
      external_name: sent['displayName'],
      external_username: sent['userName'],
      external_email: 'ann@example.com',
      role: 'user',
      is_provisioned: true,
    })
    const { error } = await service.query(
      admin,
      'mutation($p: ID!, $u: ID!) { addUserToProject(projectID: $p, userID: $u, role: "developer") { id } }',
      { p: project.id, u: id },
    )
    expect(error).toBeNull()
  })

  test('[scim.create] a person who has signed in before keeps the roles and becomes provisioned', async () => {
    const bob = await person('bob')
    await create({ externalId: bob.id, displayName: 'Robert' })
    expect(await stored(bob.id)).toMatchObject({ external_name: 'Robert', is_provisioned: true })
  })

  test('[scim.create] a person without an e-mail address in SCIM keeps the address of the sign-in', async () => {
    const id = randomUUID()
    await service.query({ id, name: 'Dora', email: 'dora@example.com' }, '{ me { id } }')
    await create({ externalId: id })
    await scim.patch(id, [{ op: 'replace', path: 'displayName', value: 'X' }])
    expect(await stored(id)).toMatchObject({ external_name: 'X', external_email: 'dora@example.com' })
    const add = { op: 'add', path: 'emails', value: [{ value: 'new@example.com' }] }
    await scim.patch(id, [add])
    expect(await stored(id)).toMatchObject({ external_email: 'new@example.com' })
    await scim.patch(id, [{ op: 'remove', path: 'emails' }])
    expect(await stored(id)).toMatchObject({ external_email: '' })
  })

  test('[scim.subject] a subject that is not a UUID is refused with the rule', async () => {
    for (const externalId of ['00ujl29u0le5T6Aj10h7', '', null, undefined]) {
      const answer = await scim.post(newUser({ externalId }))
      expect(refusalOf(answer)).toEqual([400, 'invalidValue'])
      expect(answer.body.detail).toMatch(/^externalId must be the UUID that the proxy sends as the subject/)
    }
  })

  test('[scim.unique] a second user with the same id or userName, in any case, is refused', async () => {
    const { sent } = await create({ userName: 'Unique@Example.com' })
    expect(refusalOf(await scim.post(sent))).toEqual([409, 'uniqueness'])
    const other = await scim.post(newUser({ userName: 'unique@example.COM' }))
    expect([refusalOf(other), other.body.detail]).toEqual([
      [409, 'uniqueness'],
      'another user has this userName; comparisons ignore case',
    ])
    const { id } = await create()
    expect(
      refusalOf(await scim.patch(id, [{ op: 'replace', path: 'userName', value: 'UNIQUE@example.com' }])),
    ).toEqual([409, 'uniqueness'])
  })

  test('[scim.unique] of concurrent requests for the same person, one succeeds', async () => {
    const body = newUser()
    const answers = await Promise.all(Array.from({ length: 6 }, () => scim.post(body)))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      201, 409, 409, 409, 409, 409,
    ])
  })
})

describe('reading', () => {
  test('[scim.read] one person, with selected attributes', async () => {
    const { id, body } = await create()
    expect((await scim.get(`/Users/${id.toUpperCase()}`)).body).toEqual(body)
    expect((await scim.get(`/Users/${id}?attributes=userName`)).body).toEqual({
      schemas: [userSchema],
      id,
      userName: body.userName,
    })
    expect((await scim.get(`/Users/${id}?excludedAttributes=meta,displayName,externalId`)).body).toEqual({
      schemas: [userSchema],
      id,
      userName: body.userName,
      active: true,
    })
  })

  test('[scim.errors] an unknown id, a malformed id and a person without provisioning answer 404', async () => {
    const carl = await person('carl')
    for (const id of [randomUUID(), 'x', carl.id]) {
      const answer = await scim.get(`/Users/${id}`)
      expect([answer.status, answer.body]).toEqual([
        404,
        { schemas: [errorSchema], status: '404', detail: 'user not found' },
      ])
      expect((await scim.remove(id)).status).toBe(404)
      expect((await scim.put(id, newUser())).status).toBe(404)
    }
  })

  test('[scim.etag] a version that the client has answers 304', async () => {
    const { id } = await create()
    const same = await scim.get(`/Users/${id}`, { 'if-none-match': 'W/"1"' })
    expect([same.status, same.body, same.headers.get('etag')]).toEqual([304, null, 'W/"1"'])
    expect((await scim.get(`/Users/${id}`, { 'if-none-match': 'W/"2"' })).status).toBe(200)
  })

  test('[scim.discovery] the discovery documents name what is supported', async () => {
    const config = (await scim.get('/ServiceProviderConfig')).body
    expect([config.patch, config.bulk.supported, config.sort, config.etag, config.filter.supported]).toEqual([
      { supported: true },
      false,
      { supported: false },
      { supported: true },
      true,
    ])
    expect((await scim.get('/ResourceTypes')).body.Resources).toEqual([
      (await scim.get('/ResourceTypes/User')).body,
      (await scim.get('/ResourceTypes/Group')).body,
    ])
    const schemas = (await scim.get('/Schemas')).body
    expect([schemas.totalResults, schemas.Resources[0].id, schemas.Resources[1].id]).toEqual([
      2,
      userSchema,
      groupSchema,
    ])
    expect((await scim.get(`/Schemas/${userSchema}`)).body).toEqual(schemas.Resources[0])
    for (const path of ['/ResourceTypes/Device', '/Schemas/urn:x'])
      expect((await scim.get(path)).status).toBe(404)
  })
})
