// Tests for an example backend in any language: it registers, verifies callbacks, calls a partner, sends notifications,
// and handles replaced credentials.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { callAsMachine } from '@manager/harness/backends.ts'
import { skipWaits } from './callbacks.ts'
import { type ExampleProgram, type ExampleScene, startExampleScene } from './example-backend.ts'

type Own = {
  scene: () => ExampleScene
  registrations: () => Promise<{ id: string }[]>
  /** Fires the trigger and waits until the backend has processed both tenants and the run is delivered. */
  fireAndServe: () => Promise<void>
}

/**
 * Defines the tests for a program. `further` adds tests that run before the last test, which stops the
 * program.
 */
export function testExampleBackend(
  program: ExampleProgram,
  further: (own: Own) => void = () => undefined,
): void {
  let scene: ExampleScene
  beforeAll(async () => {
    scene = await startExampleScene(program)
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
  /** Fires the trigger and waits until the backend has processed both tenants and the run is delivered. */
  async function fireAndServe(attempts = 1, beforeServing: () => Promise<unknown> = () => Promise.resolve()) {
    await scene.fire()
    await beforeServing()
    await scene.backend.line(/^night for acme$/m)
    await scene.backend.line(/^night for shop-tenant$/m)
    await expect.poll(lastRun).toEqual({ outcome: 'delivered', attempts, response_status: 204 })
  }

  test('it registers, verifies the callback, asks the partner through the ESB for each tenant, and emits', async () => {
    await expect.poll(async () => (await registrations()).length).toBe(1)
    await fireAndServe()
    const calls = async () => (await scene.sql.query('select path, response_status from esb_audit_logs')).rows
    const call = { path: expect.stringMatching(/\/stock$/) as string, response_status: 200 }
    await expect.poll(calls).toEqual([call, call])
    const { rows: emitted } = await scene.sql.query('select title from notifications')
    const notification = { title: expect.stringMatching(/^Tulips left: \d+$/) as string }
    expect(emitted).toEqual([notification, notification])
  })

  test('it refuses what is not signed', async () => {
    const { status } = await fetch(scene.backend.callbackUrl, {
      method: 'POST',
      body: '{"run_key":"forged"}',
    })
    expect(status).toBe(401)
    expect(scene.backend.printed()).not.toContain('forged')
  })

  further({ scene: () => scene, registrations, fireAndServe })

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
      await expect.poll(() => skipWaits(scene.sql)).toMatchObject({ rowCount: 1 })
    })
  })

  test('its machine token is rotated: with the new one in its file it goes on', async () => {
    const { data } = await scene.query(
      'mutation($id: ID!) { made: rotateMachineUserToken(id: $id) { generatedToken } }',
      { id: scene.machine.id },
    )
    await scene.backend.line(/^failed: .*token.*$/m)
    scene.backend.writeToken(data.made.generatedToken)
    await scene.sql.query('delete from backend_registrations')
    await expect.poll(async () => (await registrations()).length).toBe(1)
    await fireAndServe()
  })

  test('it unregisters when it ends', async () => {
    expect(await scene.backend.stop()).toBe(0)
    expect(await registrations()).toEqual([])
  })
}
