// Tests that rights are judged inside of the change: by the token, by its creator, and by who manages the person.
import { beforeAll, expect, test } from 'vitest'
import { waitForLockWait } from '../../../test/kit/locks.ts'
import { useProject } from '../../../test/kit/project.ts'
import { createScimClient, createScimToken, newUser } from '../../../test/kit/scim.ts'

const { service, admin } = useProject()
let token = ''
const scim = createScimClient(
  () => service,
  () => token,
)
beforeAll(async () => {
  token = (await createScimToken(service, admin)).token
})
test('[scim.token-refused] a token that is revoked while its request waits changes nothing', async () => {
  const own = await createScimToken(service, admin, { name: 'short-lived' })
  const revoked = createScimClient(
    () => service,
    () => own.token,
  )
  const { id } = (await scim.post(newUser())).body as { id: string }
  const holder = await service.sql.connect()
  await holder.query('begin')
  await holder.query('select from users where id = $1 for update', [id])
  const waiting = revoked.patch(id, [{ op: 'replace', path: 'active', value: false }])
  await waitForLockWait(service.sql)
  await service.query(admin, 'mutation($id: ID!) { revokeScimToken(id: $id) { id } }', { id: own.id })
  await holder.query('rollback')
  holder.release()
  expect((await waiting).status).toBe(401)
  expect((await scim.get(`/Users/${id}`)).body.active).toBe(true)
})

test('[scim.deactivate] the creator of a token is not reactivated with it', async () => {
  const user = newUser({ externalId: admin.id })
  expect((await scim.post(user)).status).toBe(201)
  const other = await createScimToken(service, admin, { name: 'other' })
  await service.sql.query('update scim_tokens set creator_id = $1 where id = $2', [
    (await scim.post(newUser())).body.id,
    other.id,
  ])
  const foreign = createScimClient(
    () => service,
    () => other.token,
  )
  const set = (client: typeof scim, value: boolean) =>
    client.patch(admin.id, [{ op: 'replace', path: 'active', value }])
  expect((await set(scim, false)).status).toBe(200)
  const { status, body } = await set(scim, true)
  expect([status, body.scimType]).toEqual([400, 'mutability'])
  expect((await scim.remove(admin.id)).status).toBe(204)
  expect((await scim.post(user)).status).toBe(400)
  expect((await foreign.post(user)).status).toBe(201)
  expect((await scim.get(`/Users/${admin.id}`)).body.active).toBe(true)
})

test('[scim.deactivate] an administrator reactivates a person whom no identity provider manages any more', async () => {
  const { id } = (await scim.post(newUser())).body as { id: string }
  const reactivate = () =>
    service.query(admin, 'mutation($id: ID!) { reactivateUser(id: $id) { active } }', { id })
  await scim.patch(id, [{ op: 'replace', path: 'active', value: false }])
  expect((await reactivate()).data.reactivateUser.active).toBe(false)
  await scim.remove(id)
  expect((await reactivate()).data.reactivateUser.active).toBe(true)
})

test('[scim.patch] a filter may compare a boolean with its text', async () => {
  const { id } = (await scim.post(newUser({ emails: [{ value: 'a@example.com', primary: true }] }))).body as {
    id: string
  }
  const { body } = await scim.patch(id, [
    { op: 'replace', path: 'emails[primary eq "True"].value', value: 'b@example.com' },
  ])
  expect(body.emails).toEqual([{ value: 'b@example.com', primary: true }])
})
