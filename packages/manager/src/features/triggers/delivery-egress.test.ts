// These tests cover forbidden callback addresses: a registered name is checked again when it is called.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type TriggerScene, startTriggerScene } from '../../../test/kit/callbacks.ts'

let scene: TriggerScene
/** The addresses to which the backend names resolve. */
let answers: string[] = []
let lookups = 0
beforeAll(async () => {
  scene = await startTriggerScene({
    env: { SVC_CALLBACKS_ALLOWED_CIDRS: undefined },
    world: {
      nameResolver: {
        createLookup: () => () => {
          lookups++
          return Promise.resolve(
            answers.map((address) => ({
              address,
              family: address.includes(':') ? (6 as const) : (4 as const),
            })),
          )
        },
      },
    },
  })
})
afterAll(() => scene.close())
beforeEach(async () => {
  scene.backend.reset()
  for (const table of ['triggers', 'trigger_runs', 'queued_jobs', 'backend_registrations'])
    await scene.service.sql.query(`delete from ${table}`)
})

async function fireAt(url: string) {
  await scene.register(url)
  const { id } = await scene.createTrigger()
  await scene.makeDue(id)
  await scene.plan()
  await scene.deliver()
  return scene.runsOf(id)
}

test('[backends.url-unresolved] [backends.url-pinned] a name is accepted unresolved; when it leads to a forbidden address it is not called', async () => {
  const { port } = scene.backend
  for (const forbidden of [
    ['127.0.0.1'],
    ['::1'],
    ['::ffff:127.0.0.1'],
    ['93.184.215.14', '127.0.0.1'],
    ['10.1.2.3'],
    ['169.254.169.254'],
    ['64:ff9b::7f00:1'],
  ]) {
    answers = []
    lookups = 0
    const machine = await scene.register(`http://backend.example:${port}/callbacks`)
    expect(lookups, 'registering looks nothing up').toBe(0)
    await scene.service.sql.query('delete from backend_registrations where id = $1', [machine.id])
    answers = forbidden
    expect(await fireAt(`http://backend.example:${port}/callbacks`)).toMatchObject([
      { outcome: 'pending', failure: 'the address of the upstream is not allowed', response_status: null },
    ])
    expect(lookups).toBeGreaterThan(0)
    expect([scene.backend.received.length, scene.backend.sockets.size]).toEqual([0, 0])
    await scene.service.sql.query('delete from triggers')
  }
})

test('a literal that was stored before it was forbidden is not called either', async () => {
  answers = ['93.184.215.14']
  const { id: registration } = await scene.register('http://backend.example/callbacks')
  await scene.service.sql.query('update backend_registrations set callback_url = $2 where id = $1', [
    registration,
    `${scene.backend.url}/callbacks`,
  ])
  const { id } = await scene.createTrigger()
  await scene.makeDue(id)
  await scene.plan()
  await scene.deliver()
  expect(await scene.runsOf(id)).toMatchObject([
    { outcome: 'pending', failure: 'the address of the upstream is not allowed' },
  ])
  expect([scene.backend.received.length, scene.backend.sockets.size]).toEqual([0, 0])
})
