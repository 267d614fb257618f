// Tests examples/careful-backend.ts against a service process. The backend receives callbacks even after
// restarts and after its credentials are replaced.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { getSigningSecretLocation, getTokenLocation } from '../src/features/backends/sealed-secrets.pure.ts'
import { createWebhookSecret, signWebhook } from '../src/platform/outbound/webhook-signature.ts'
import { createEncryptionRing } from '../src/platform/secrets/keys.ts'
import { createSecrets } from '../src/platform/secrets/secrets.ts'
import { masterKey } from '@manager/harness/callers.ts'
import { testEnv } from '@manager/harness/test-env.ts'
import { callAsMachine } from '@manager/harness/backends.ts'
import { skipWaits } from './kit/callbacks.ts'
import { type ExampleScene, startExampleScene } from './kit/example-backend.ts'
import { runManager } from './kit/commands.ts'

let scene: ExampleScene
beforeAll(async () => {
  scene = await startExampleScene('careful-backend.ts')
})
afterAll(() => scene.close())

const runsOf = async (id: string) =>
  (await scene.sql.query('select outcome, attempts, response_status from trigger_runs where id = $1', [id]))
    .rows
async function expectDelivered(id: string, attempts = 1): Promise<void> {
  await expect.poll(() => runsOf(id)).toEqual([{ outcome: 'delivered', attempts, response_status: 204 }])
}
/** Returns the id of the next run once the backend has processed it for both tenants. */
async function nextRun(): Promise<string> {
  const id = await scene.backend.line(/^run (\S+): night$/m)
  await scene.backend.line(/^night for acme$/m)
  await scene.backend.line(/^night for shop-tenant$/m)
  return id
}

test('the example registers, verifies the callback, and works once per tenant', async () => {
  const id = await scene.backend.line(/^registered (\S+)$/m)
  const { rows } = await scene.sql.query('select id, callback_url from backend_registrations')
  expect(rows).toEqual([{ id, callback_url: scene.backend.callbackUrl }])
  await scene.fire()
  await expectDelivered(await nextRun())
})

type Keys = { token: string; signingSecret: string }
/** Returns the current callback token and signing secret. */
async function callbackKeys(): Promise<Keys> {
  const { rows } = await scene.sql.query(
    'select id, callback_token, signing_secret from backend_registrations',
  )
  const secrets = createSecrets(createEncryptionRing(Buffer.from(masterKey, 'base64')))
  const { id, callback_token, signing_secret } = rows[0]
  return {
    token: secrets.open(callback_token, getTokenLocation(id)),
    signingSecret: secrets.open(signing_secret, getSigningSecretLocation(id)),
  }
}
/** Sends a callback to the backend, as the service does, and returns the status. */
async function send(
  runKey: string,
  { token, signingSecret }: Keys,
  { ageSeconds = 0, keyedWith = signingSecret } = {},
): Promise<number> {
  const [id, body] = [randomUUID(), Buffer.from(JSON.stringify({ run_key: runKey }))]
  const timestampSeconds = Math.floor(Date.now() / 1_000) - ageSeconds
  const headers = {
    authorization: `Bearer ${token}`,
    'webhook-id': id,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signWebhook({ id, timestampSeconds, body, token: keyedWith }),
  }
  const { status } = await fetch(scene.backend.callbackUrl, { method: 'POST', headers, body })
  return status
}

test('it refuses a callback that is not signed, signed with another key, or not of these minutes', async () => {
  const [keys, another] = [await callbackKeys(), createWebhookSecret()]
  const unsigned = await fetch(scene.backend.callbackUrl, { method: 'POST', body: '{"run_key":"forged"}' })
  expect([
    unsigned.status,
    await send('forged', keys, { keyedWith: another }),
    await send('forged', keys, { ageSeconds: 3_600 }),
    await send('forged', keys, { ageSeconds: -3_600 }),
    await send('real', keys),
  ]).toEqual([401, 401, 401, 401, 204])
  await scene.backend.line(/^real for shop-tenant$/m)
  expect(scene.backend.printed()).not.toContain('forged')
})

test('the token that travels with a callback does not sign one: another attempt is asked for', async () => {
  const keys = await callbackKeys()
  expect(await send('stolen', keys, { keyedWith: keys.token })).toBe(503)
  // The backend assumes that a newer registration exists, so it registers again.
  await scene.backend.line(/^registered (\S+)$/m)
  expect(scene.backend.printed()).not.toContain('stolen')
})

test('a run that arrives a second time is not worked on again', async () => {
  await scene.fire()
  const id = await nextRun()
  await expectDelivered(id)
  // Simulate a lost response, after which an operator retries the run.
  await scene.sql.query("update trigger_runs set outcome = 'failed' where id = $1", [id])
  expect(await runManager(['triggers', 'retry', id], testEnv(scene.database.url))).toMatchObject({ code: 0 })
  expect(await scene.backend.line(/^run (\S+) was already accepted$/m)).toBe(id)
  await expectDelivered(id)
})

test('[backends.durable] the Manager is stopped and started again: the next firing arrives, and nothing registers', async () => {
  const registrations = 'select id, updated_at from backend_registrations'
  const { rows } = await scene.sql.query(registrations)
  await scene.restart(() => scene.backend.line(/^heartbeat failed: TypeError: fetch failed$/m))
  await scene.fire()
  await expectDelivered(await nextRun())
  expect((await scene.sql.query(registrations)).rows).toEqual(rows)
})

test('another instance registers as the same machine user: the run arrives with the next attempt', async () => {
  const { status } = await callAsMachine(scene.manager(), {
    method: 'POST',
    path: '/register-backend',
    token: scene.machine.token,
    body: { application_id: scene.project.applicationId, callback_url: scene.backend.callbackUrl },
  })
  expect(status).toBe(200)
  await scene.fire()
  await scene.backend.line(/^registered (\S+)$/m)
  await expect.poll(() => skipWaits(scene.sql)).toMatchObject({ rowCount: 1 })
  await expectDelivered(await nextRun(), 2)
})

test('the machine token is rotated: with the new one in its file the backend goes on', async () => {
  const { data } = await scene.query(
    'mutation($id: ID!) { made: rotateMachineUserToken(id: $id) { generatedToken } }',
    { id: scene.machine.id },
  )
  await scene.backend.line(/^heartbeat failed: Error: PUT \S+: 401$/m)
  const heartbeat = 'select last_heartbeat from backend_registrations'
  const { rows } = await scene.sql.query(heartbeat)
  scene.backend.writeToken(data.made.generatedToken)
  await expect.poll(async () => (await scene.sql.query(heartbeat)).rows).not.toEqual(rows)
  await scene.fire()
  await expectDelivered(await nextRun())
})

test('its registration is removed: the next heartbeat makes it register again, and it knows the former token too', async () => {
  const previous = await callbackKeys()
  await scene.sql.query('delete from backend_registrations')
  const id = await scene.backend.line(/^registered (\S+)$/m)
  expect((await scene.sql.query('select id from backend_registrations')).rows).toEqual([{ id }])
  await scene.fire()
  await expectDelivered(await nextRun())
  expect(await callbackKeys()).not.toEqual(previous)
  expect(await send('late', previous)).toBe(204)
})

test('it unregisters when it ends', async () => {
  expect(await scene.backend.stop()).toBe(0)
  expect((await scene.sql.query('select id from backend_registrations')).rows).toEqual([])
})
