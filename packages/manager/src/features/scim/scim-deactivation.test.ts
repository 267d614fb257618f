// Tests that a deactivated person is refused by every process and in every way, and that the deactivations of the identity
// provider and of an administrator are independent.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, headersOf } from '@manager/harness/callers.ts'
import { bearer, call, createToken, throughProxy, validate } from '@manager/harness/credentials.ts'
import { seedMember } from '@manager/harness/seed.ts'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import { useProject } from '../../../test/kit/project.ts'
import { createScimClient, createScimToken, newUser } from '../../../test/kit/scim.ts'
import { openSocket } from '../../../test/kit/sockets.ts'

const { service, admin, project } = useProject()
let replica: TestApp
let token = ''
const scim = createScimClient(
  () => service,
  () => token,
)
beforeAll(async () => {
  replica = await startTestApp({ database: service.database })
  token = (await createScimToken(service, admin)).token
})
afterAll(() => replica.close())

/** Creates a person who is a member of the project and of the tenant, and has a personal access token. */
async function provision(): Promise<Person & { pat: string }> {
  const { body } = await scim.post(newUser())
  const person = { id: body.id as string }
  await seedMember(service.sql, person, 'developer', { projectId: project.id })
  await seedMember(service.sql, person, 'member', { projectId: project.id, tenantId: project.tenantId })
  return { ...person, pat: (await createToken(service, person)).token }
}
const seatOf = ({ id }: Person) => ({
  userId: id,
  tenantId: project.tenantId,
  applicationId: project.applicationId,
})

/** Returns `open`, or the code with which the process closes a new socket. */
async function trySocket(url: string, person: Person): Promise<string | number> {
  const socket = openSocket(url, seatOf(person))
  const result = await Promise.race([socket.closed, socket.hello.then(() => 'open')])
  socket.client.close()
  return result
}

/** Returns how each process answers each kind of request of the person. */
async function useEverything({ id, pat }: Person & { pat: string }): Promise<Record<string, unknown>[]> {
  return Promise.all(
    [service, replica].map(async ({ url }) => {
      const query = (headers: Record<string, string>) =>
        call(url, '/query', headers, { query: '{ me { id } }' })
      const oauth = await call(url, '/api/validate-oauth-user', throughProxy(), {
        user_id: id,
        application_id: project.applicationId,
      })
      const catalog = await call(url, `/api/proxy/user/${id}/tenants`, throughProxy())
      return {
        session: (await query(headersOf({ id }))).status,
        pat: (await query({ ...throughProxy(), ...bearer(pat) })).status,
        validated: (await validate(url, `Bearer ${pat}`, project.applicationId)).status,
        access: oauth.body.application.has_access,
        tenants: catalog.body.tenants.length,
        socket: await trySocket(url, { id }),
      }
    }),
  )
}
const admitted = { session: 200, pat: 200, validated: 200, access: true, tenants: 1, socket: 'open' }
const refused = { session: 401, pat: 401, validated: 401, access: false, tenants: 0, socket: 4500 }

const setByAdmin = async (operation: 'deactivateUser' | 'reactivateUser', id: string) =>
  service.query(admin, `mutation($id: ID!) { row: ${operation}(id: $id) { id active } }`, { id })
const setActive = (id: string, active: boolean) =>
  scim.patch(id, [{ op: 'replace', path: 'active', value: active }])

describe('deactivation over SCIM', () => {
  test.each<[string, (id: string) => Promise<{ status: number }>]>([
    ['PATCH', (id) => setActive(id, false)],
    ['PATCH of Entra ID', (id) => scim.patch(id, [{ op: 'Replace', path: 'active', value: 'False' }])],
    ['PUT', (id) => scim.put(id, { userName: id, active: false })],
    ['DELETE', (id) => scim.remove(id)],
  ])(
    '[scim.deactivate] after a %s, every kind of request is refused by every process',
    async (_name, deactivate) => {
      const person = await provision()
      expect(await useEverything(person)).toEqual([admitted, admitted])
      expect((await deactivate(person.id)).status).toBeLessThan(300)
      expect(await useEverything(person)).toEqual([refused, refused])
    },
  )

  test('[scim.reactivate] active true lets the person in again, with the same roles and tokens', async () => {
    const person = await provision()
    await setActive(person.id, false)
    expect((await setActive(person.id, true)).body.active).toBe(true)
    expect(await useEverything(person)).toEqual([admitted, admitted])
  })

  test('[scim.deactivate] a person who is created inactive cannot sign in', async () => {
    const { body } = await scim.post(newUser({ active: false }))
    const { error } = await service.query({ id: body.id as string }, '{ me { id } }')
    expect(error).toBe('the account of this user is deactivated; ask an administrator')
  })
})

describe('the two deactivations', () => {
  test('[scim.admin-deactivation] the identity provider does not lift a deactivation by an administrator', async () => {
    const person = await provision()
    expect((await setByAdmin('deactivateUser', person.id)).data.row.active).toBe(false)
    expect(await useEverything(person)).toEqual([refused, refused])
    await setActive(person.id, false)
    const { body } = await setActive(person.id, true)
    expect(body.active).toBe(true)
    expect(await useEverything(person)).toEqual([refused, refused])
    await scim.remove(person.id)
    await scim.post({ ...newUser(), externalId: person.id })
    expect(await useEverything(person)).toEqual([refused, refused])
    expect((await setByAdmin('reactivateUser', person.id)).data.row.active).toBe(true)
    expect(await useEverything(person)).toEqual([admitted, admitted])
  })

  test('[scim.admin-deactivation] an administrator does not lift a deactivation by the identity provider', async () => {
    const person = await provision()
    await setActive(person.id, false)
    await setByAdmin('deactivateUser', person.id)
    expect((await setByAdmin('reactivateUser', person.id)).data.row.active).toBe(false)
    expect(await useEverything(person)).toEqual([refused, refused])
  })

  test('[identity.deactivate] administrators cannot deactivate themselves, and a repeated call changes nothing', async () => {
    expect((await setByAdmin('deactivateUser', admin.id)).error).toBe(
      'you cannot deactivate yourself; ask another administrator',
    )
    const { id } = await provision()
    await setByAdmin('deactivateUser', id)
    await setByAdmin('deactivateUser', id)
    const { rows } = await service.sql.query(
      "select action, user_id from audit_logs where entity_type = 'user' and entity_id = $1 order by seq",
      [id],
    )
    expect(rows).toEqual([{ action: 'deactivate', user_id: admin.id }])
  })

  test('[identity.deactivate] a deactivated administrator changes nothing more', async () => {
    const boss = (await provision()).id
    await service.sql.query("update users set role = 'administrator' where id = $1", [boss])
    await setByAdmin('deactivateUser', boss)
    const { error } = await service.query({ id: boss }, 'mutation { createScimToken(name: "x") { token } }')
    expect(error).toBe('the account of this user is deactivated; ask an administrator')
  })
})
