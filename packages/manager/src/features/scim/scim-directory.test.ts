// Tests `users.provider: scim`, with which maintainers search the people whom an identity provider manages.
import { beforeAll, expect, test } from 'vitest'
import { useProject } from '../../../test/kit/project.ts'
import { createScimClient, createScimToken, newUser } from '../../../test/kit/scim.ts'

const { service, admin, person, project } = useProject({ env: { SVC_USERS_PROVIDER: 'scim' } })
let token = ''
const scim = createScimClient(
  () => service,
  () => token,
)
beforeAll(async () => {
  token = (await createScimToken(service, admin)).token
})

const search = async (name: string) => {
  const { data, error } = await service.query(
    admin,
    'query($name: String!) { rows: userProviderSearch(name: $name) { id displayName disabled } }',
    { name },
  )
  expect(error).toBeNull()
  return data.rows as { id: string; displayName: string; disabled: boolean }[]
}

test('[scim.provider] the search finds provisioned people, and no one else', async () => {
  await person('zora')
  const { body } = await scim.post(newUser({ displayName: 'Zora Provisioned' }))
  expect(await search('zora')).toEqual([{ id: body.id, displayName: 'Zora Provisioned', disabled: false }])
  expect(await search('zo')).toHaveLength(1)
  await scim.patch(body.id, [{ op: 'replace', path: 'active', value: false }])
  expect((await search('zora'))[0]?.disabled).toBe(true)
  await scim.remove(body.id)
  expect(await search('zora')).toEqual([])
})

test('[scim.provider] a provisioned person who has never signed in can get a role', async () => {
  const { body } = await scim.post(newUser())
  const { error } = await service.query(
    admin,
    'mutation($p: ID!, $u: ID!) { addUserToProject(projectID: $p, userID: $u, role: "tester") { id } }',
    { p: project.id, u: body.id },
  )
  expect(error).toBeNull()
})
