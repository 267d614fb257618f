// Plays the requests that Okta sends, as published in "Okta and SCIM Version 2.0"
// (https://developer.okta.com/docs/api/openapi/okta-scim/guides/scim-20). The requests were not sent by the real service. The
// id of an Okta user is not a UUID, so an attribute with a UUID is mapped to externalId.
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

beforeAll(async () => {
  token = (await createScimToken(service, admin, { name: 'okta' })).token
})

/** The body of "Create the User". */
const createBody = (userName: string) => ({
  schemas: [userSchema],
  userName,
  name: { givenName: 'Test', familyName: 'User' },
  emails: [{ primary: true, value: userName, type: 'work' }],
  displayName: 'Test User',
  locale: 'en-US',
  externalId: randomUUID(),
  groups: [],
  password: '1mz050nq',
  active: true,
})
const newName = (): string => `test.user.${randomUUID()}@okta.local`
const find = (userName: string) => scim.search(`userName eq "${userName}"`, '&startIndex=1&count=100')
const isActive = async (id: string) => (await service.query({ id }, '{ me { id } }')).error === null

describe('the lifecycle of a user', () => {
  test('[scim.okta] the connection test reads the first two users', async () => {
    const { status, body } = await scim.get('/Users?startIndex=1&count=2')
    expect([status, body]).toMatchObject([200, { schemas: [listSchema], startIndex: 1 }])
    for (const number of [body.totalResults, body.itemsPerPage]) expect(number).toBeTypeOf('number')
  })

  test('[scim.okta] a user is searched for and created; the password is neither stored nor returned', async () => {
    const body = createBody(newName())
    expect((await find(body.userName)).body).toEqual({
      schemas: [listSchema],
      totalResults: 0,
      startIndex: 1,
      itemsPerPage: 0,
      Resources: [],
    })
    const created = await scim.post(body)
    expect([created.status, created.body]).toMatchObject([
      201,
      { id: body.externalId, userName: body.userName, name: body.name, emails: body.emails, active: true },
    ])
    expect(JSON.stringify(created.body)).not.toContain(body.password)
    const { rows } = await service.sql.query<{ text: string }>(
      `select u::text || s::text || (select string_agg(l::text, '') from audit_logs l) as text
       from users u join scim_users s on s.user_id = u.id where u.id = $1`,
      [body.externalId],
    )
    expect(rows[0]?.text).not.toContain(body.password)
    const again = await scim.post(body)
    expect([again.status, again.body]).toMatchObject([409, { schemas: [errorSchema], status: '409' }])
  })

  test('[scim.okta] a user is read, and updated with a PUT that does not repeat the externalId', async () => {
    const { externalId, ...body } = createBody(newName())
    await scim.post({ ...body, externalId })
    const read = await scim.get(`/Users/${externalId}`)
    const updated = await scim.put(externalId, {
      ...read.body,
      externalId: undefined,
      name: { givenName: 'Another', middleName: 'Excited', familyName: 'User' },
      emails: [{ primary: true, value: body.userName, type: 'work', display: body.userName }],
      groups: [],
      meta: { resourceType: 'User' },
    })
    expect([updated.status, updated.body]).toMatchObject([
      200,
      {
        id: externalId,
        externalId,
        name: { givenName: 'Another', familyName: 'User' },
        emails: [{ display: body.userName }],
        active: true,
      },
    ])
  })

  test('[scim.okta] a user is deactivated and activated with a PATCH without a path', async () => {
    const { body } = await scim.post(createBody(newName()))
    const set = (active: boolean) =>
      scim.patch(body.id, { schemas: [patchSchema], Operations: [{ op: 'replace', value: { active } }] })
    expect([(await set(false)).body.active, await isActive(body.id)]).toEqual([false, false])
    expect((await find(body.userName)).body.Resources[0].active).toBe(false)
    expect([(await set(true)).body.active, await isActive(body.id)]).toEqual([true, true])
  })

  test('an integration of the wizard deactivates a user with a PUT', async () => {
    const body = createBody(newName())
    await scim.post(body)
    expect((await scim.put(body.externalId, { ...body, active: false })).body.active).toBe(false)
    expect(await isActive(body.externalId)).toBe(false)
  })

  test('an import reads all pages in a fixed order', async () => {
    for (let count = 0; count < 5; count++) await scim.post(createBody(newName()))
    const all = (await scim.get('/Users?startIndex=1&count=100')).body
    const ids: string[] = []
    let startIndex = 1
    while (ids.length < all.totalResults) {
      const { body } = await scim.get(`/Users?startIndex=${startIndex}&count=2`)
      expect([body.totalResults, body.startIndex]).toEqual([all.totalResults, startIndex])
      ids.push(...(body.Resources as { id: string }[]).map(({ id }) => id))
      startIndex += 2
    }
    expect(ids).toEqual((all.Resources as { id: string }[]).map(({ id }) => id))
    expect(new Set(ids).size).toBe(all.totalResults)
  })
})
