// Makes every change of an identity provider over SCIM.
import { createScimClient, createScimToken, newUser } from '../kit/scim.ts'
import type { MatrixWorld } from '../policy/world.ts'

const assertStatus = (what: string, status: number, expected: number): void => {
  if (status !== expected) throw new Error(`${what} answered ${status}`)
}

/** Creates, changes, deactivates, reactivates and deletes a person, and sends an outdated deactivation. */
export async function changeOverScim({ service, people }: MatrixWorld): Promise<void> {
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
  assertStatus('delete', (await scim.remove(body.id)).status, 204)
}
