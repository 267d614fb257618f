// Makes every change of an identity provider over SCIM.
import { createScimClient, createScimToken, newUser, patchSchema } from '../kit/scim.ts'
import type { MatrixWorld } from '../policy/world.ts'

const assertStatus = (what: string, status: number, expected: number): void => {
  if (status !== expected) throw new Error(`${what} answered ${status}`)
}

/** Creates, changes, deactivates, reactivates and deletes a person, and sends an outdated deactivation. */
export async function changeOverScim(world: MatrixWorld): Promise<void> {
  const { service, people } = world
  const { token } = await createScimToken(service, people.administrator)
  const scim = createScimClient(
    () => service,
    () => token,
  )
  const { status, body } = await scim.post(newUser())
  assertStatus('create', status, 201)
  const replace = async (path: string, value: unknown, headers = {}) =>
    (await scim.patch(body.id, [{ op: 'replace', path, value }], headers)).status
  assertStatus('update', await replace('displayName', 'X'), 200)
  assertStatus('outdated', await replace('active', false, { 'if-match': 'W/"9"' }), 412)
  assertStatus('deactivate', await replace('active', false), 200)
  assertStatus('reactivate', await replace('active', true), 200)
  await changeGroups(world, { token, userId: body.id as string })
  assertStatus('delete', (await scim.remove(body.id)).status, 204)
}

/** Creates a group and rules for it, and changes and deletes both. */
async function changeGroups(
  { service, people, own }: MatrixWorld,
  { token, userId }: { token: string; userId: string },
): Promise<void> {
  const { send } = createScimClient(
    () => service,
    () => token,
  )
  const rule = async (field: string): Promise<string> => {
    const { data, error } = await service.query(people.administrator, `mutation { rule: ${field} }`)
    if (error !== null) throw new Error(`${field}: ${error}`)
    return (data.rule.id ?? '') as string
  }
  const created = await send('POST', '/Groups', { body: { displayName: `evidence ${userId}` } })
  assertStatus('create group', created.status, 201)
  const groupId = created.body.id as string
  const patch = async (op: string): Promise<void> => {
    const Operations = [{ op, path: 'members', value: [{ value: userId }] }]
    const body = { schemas: [patchSchema], Operations }
    assertStatus(`${op} member`, (await send('PATCH', `/Groups/${groupId}`, { body })).status, 200)
  }
  const input = (role: string, object: string) =>
    `createGroupRule(input: {groupId: "${groupId}", role: "${role}", ${object}})`
  await rule(`${input('readonly', `applicationId: "${own.applicationId}"`)} { id }`)
  const id = await rule(`${input('owner', `projectId: "${own.id}"`)} { id }`)
  await patch('add')
  await patch('remove')
  await rule(`updateGroupRule(id: "${id}", role: "maintainer") { id }`)
  await rule(`deleteGroupRule(id: "${id}")`)
  assertStatus('delete group', (await send('DELETE', `/Groups/${groupId}`)).status, 204)
}
