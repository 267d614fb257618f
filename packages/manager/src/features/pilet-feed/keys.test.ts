// These tests cover GET /pilet-keys/…, a convenience for developers. Frontends do not trust these keys.
import { createPublicKey, randomUUID, verify } from 'node:crypto'
import { expect, test } from 'vitest'
import {
  requestThroughProxy,
  expectNotFound,
  expectRevalidates,
  expectSecretOnly,
} from '../../../test/kit/cached-responses.ts'
import { addPackages, setLayer, sha256, signingOf } from '../../../test/kit/pilet-rows.ts'
import { useProject } from '../../../test/kit/project.ts'

const { service, admin, project } = useProject()
type Keys = Record<string, string>

const path = (): string => `/pilet-keys/${project.applicationId}`
const keysNow = async (): Promise<Keys> => JSON.parse((await requestThroughProxy(service, path())).body)
/** Rotates the key as the CLI does: the new key signs, and the previous key stays in the ring. */
const replaceKey = async () => {
  const ring = signingOf(service)
  const key = await ring.create()
  await ring.activate(key.keyId)
  return key
}
/** Verifies a bundle as a frontend loader does with its trusted keys. */
const isTrusted = (bytes: Buffer, item: { signature: string; keyId: string }, keys: Keys): boolean => {
  const raw = keys[item.keyId]
  if (raw === undefined) return false
  const der = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), Buffer.from(raw, 'base64')])
  const key = createPublicKey({ key: der, format: 'der', type: 'spki' })
  return verify(null, bytes, key, Buffer.from(item.signature, 'base64'))
}
const itemOf = async (name: string) => {
  const { items } = JSON.parse(
    (await requestThroughProxy(service, `/pilet-feed/${project.applicationId}`)).body,
  ) as {
    items: { name: string; signature: string; keyId: string }[]
  }
  return items.find((item) => item.name === name) as { signature: string; keyId: string }
}

/** Adds a version signed with the active key. */
async function addSigned(name: string, bytes: Buffer) {
  const about = { projectId: project.id, name, version: '1.0.0', hash: sha256(bytes) }
  const signature = await signingOf(service).sign(bytes, about)
  await addPackages(service.sql, project.id, [{ name, version: '1.0.0', bytes, signature }])
  return signature
}

test('[pilet-feed.keys] maps key ids to raw public keys; replaced ones stay and still verify', async () => {
  expect(await keysNow()).toEqual({})
  const bytes = Buffer.from('first')
  const signature = await addSigned('first', bytes)
  await setLayer(service.sql, project, 'project', { modules: ['first', 'second'] })
  const first = await keysNow()
  expect(Object.keys(first)).toEqual([signature.keyId])
  const added = await replaceKey()
  const both = await keysNow()
  expect(both).toEqual({ ...first, [added.keyId]: added.publicKey.toString('base64') })
  for (const [id, raw] of Object.entries(both)) {
    expect(Buffer.from(raw, 'base64')).toHaveLength(32)
    expect(id).toBe(sha256(Buffer.from(raw, 'base64')).slice(0, 16))
  }
  expect(isTrusted(bytes, await itemOf('first'), both)).toBe(true)
  await expectSecretOnly(service, path(), admin.id)
  await expectRevalidates(service, path())
})

test('[pilet-feed.trust-anchor] who trusts the keys of the page refuses what a key signs that is only listed here', async () => {
  const anchor = await keysNow()
  const planted = await replaceKey()
  const bytes = Buffer.from('second')
  await addSigned('second', bytes)
  const item = await itemOf('second')
  expect(item.keyId).toBe(planted.keyId)
  expect([isTrusted(bytes, item, anchor), isTrusted(bytes, item, await keysNow())]).toEqual([false, true])
  // Neither the feed nor the frontend configuration contains keys.
  for (const other of [
    `/pilet-feed/${project.applicationId}`,
    `/api/frontend-config/${project.applicationId}`,
  ])
    for (const key of Object.values(await keysNow()))
      expect((await requestThroughProxy(service, other)).body).not.toContain(key)
})

test('[pilet-feed.keys] of an unknown application are not found', async () => {
  for (const unknown of [randomUUID(), project.id, 'x', '%00', `${project.applicationId}0`])
    expectNotFound(await requestThroughProxy(service, `/pilet-keys/${unknown}`), 'application not found')
})
