// examples/backend.mjs with a service that runs as a process: what its thirty lines are enough for.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { callAsMachine } from './kit/backends.ts'
import { type ExampleScene, startExampleScene } from './kit/example-backend.ts'

let scene: ExampleScene
beforeAll(async () => {
  scene = await startExampleScene('backend.mjs')
})
afterAll(() => scene.close())

const registrations = async () =>
  (await scene.sql.query('select id, updated_at from backend_registrations')).rows
const lastRun = async () => {
  const { rows } = await scene.sql.query(
    'select outcome, attempts, response_status from trigger_runs order by id desc limit 1',
  )
  return rows[0]
}
/** Fires, and waits until both tenants are served and the run is delivered. */
async function fireAndServe(attempts = 1, meanwhile: () => Promise<unknown> = () => Promise.resolve()) {
  await scene.fire()
  await meanwhile()
  await scene.backend.line(/^night for acme$/m)
  await scene.backend.line(/^night for shop-tenant$/m)
  await expect.poll(lastRun).toEqual({ outcome: 'delivered', attempts, response_status: 204 })
}

test('it registers, verifies the callback, and works once per tenant', async () => {
  await expect.poll(async () => (await registrations()).length).toBe(1)
  await fireAndServe()
})

test('it refuses what is not signed', async () => {
  const { status } = await fetch(scene.backend.callbackUrl, { method: 'POST', body: '{"run_key":"forged"}' })
  expect(status).toBe(503)
  expect(scene.backend.printed()).not.toContain('forged')
})

test('[backends.durable] it is called after a restart of the Manager', async () => {
  await scene.restart(() => Promise.resolve())
  await fireAndServe()
})

test('its callback token is replaced by another instance: the run arrives with the next attempt', async () => {
  const { status } = await callAsMachine(scene.manager(), {
    method: 'POST',
    path: '/register-backend',
    token: scene.machine.token,
    body: { application_id: scene.project.applicationId, callback_url: scene.backend.callbackUrl },
  })
  expect(status).toBe(200)
  const before = await registrations()
  await fireAndServe(2, async () => {
    await expect.poll(async () => (await registrations())[0]?.updated_at).not.toEqual(before[0]?.updated_at)
    await expect
      .poll(() => scene.sql.query("update jobs.job_common set start_after = now() where state < 'active'"))
      .toMatchObject({ rowCount: 1 })
  })
})

test('its machine token is rotated: with the new one in its file it goes on', async () => {
  const { data } = await scene.query(
    'mutation($id: ID!) { made: rotateMachineUserToken(id: $id) { generatedToken } }',
    { id: scene.machine.id },
  )
  scene.backend.writeToken(data.made.generatedToken)
  await scene.sql.query('delete from backend_registrations')
  await expect.poll(async () => (await registrations()).length).toBe(1)
  await fireAndServe()
})
