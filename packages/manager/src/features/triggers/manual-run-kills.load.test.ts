// These tests kill the service (SIGKILL) while a person starts or retries a run. A run, its first attempt and its
// audit row exist together or not at all, and repeating the request does not start a second run.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { postQuery } from '@manager/harness/graphql.ts'
import { headersOf } from '@manager/harness/callers.ts'
import { type ServiceProcess, startProcess } from '@manager/harness/process.ts'
import { killAfterCommit, killBeforeCommit } from '../../../test/kit/kill-points.ts'
import { type ManualRunScene, startManualRunScene } from '../../../test/kit/manual-runs.ts'

let scene: ManualRunScene
let victims: ServiceProcess[]
beforeAll(async () => {
  scene = await startManualRunScene()
  // The processes that are killed only accept requests; `scene` delivers the runs.
  const start = () => startProcess(scene.service.database.url, { SVC_ROLES: 'api' })
  victims = await Promise.all([start(), start(), start(), start()])
})
afterAll(async () => {
  for (const { child } of victims) child.kill('SIGKILL')
  await scene.close()
})
afterEach(() => scene.clear())

const nextVictim = (): ServiceProcess => victims.pop() as ServiceProcess
const send = (mutation: string, { url } = scene.service as { url: string }) =>
  postQuery(url, headersOf(scene.developer), `mutation { run: ${mutation} { id environment { id name } } }`)

/** Counts the runs that people started, their attempts, and the audit rows of the trigger. */
async function countRecords(triggerId: string) {
  const { rows } = await scene.service.sql.query<{ runs: number; attempts: number }>(
    `select (select count(*)::int from trigger_runs where trigger_id = $1 and requested_by is not null) as runs,
       (select count(*)::int from queued_jobs where data->>'triggerId' = $1::text) as attempts`,
    [triggerId],
  )
  return { ...rows[0], audited: (await scene.auditOf(triggerId)).length }
}
const none = { runs: 0, attempts: 0, audited: 0 }
const one = { runs: 1, attempts: 1, audited: 1 }

async function expectOneDelivery(triggerId: string): Promise<void> {
  await scene.deliver()
  expect(scene.backend.received).toHaveLength(1)
  expect((await scene.runsOf(triggerId)).filter(({ outcome }) => outcome === 'delivered')).toHaveLength(1)
}

/** Returns the request that starts a run of a new trigger. */
async function prepareRun() {
  await scene.register()
  const { id } = await scene.createTrigger()
  const { environmentId } = scene.project
  return { id, mutation: `runTrigger(id: "${id}", environmentId: "${environmentId}", requestKey: "k")` }
}

/** Returns the request that retries a failed run of a new trigger. */
async function prepareRetry() {
  await scene.register()
  const { id } = await scene.createTrigger()
  return { id, mutation: `retryTriggerRun(id: "${await scene.endedRun(id, 'failed')}")` }
}

test.each([
  ['run now', prepareRun],
  ['retry', prepareRetry],
])(
  '%s: a kill before the commit leaves nothing, and the repeated request starts one run',
  async (_, prepare) => {
    const { id, mutation } = await prepare()
    await killBeforeCommit(scene.service, scene.project.id, nextVictim(), (victim) => send(mutation, victim))
    expect(await countRecords(id)).toEqual(none)
    expect((await send(mutation)).error).toBeNull()
    expect(await countRecords(id)).toEqual(one)
    await expectOneDelivery(id)
  },
  10_000,
)

/** Kills the service after the commit, and returns the id of the run and the response to the repeated request. */
async function repeatAfterKill({ id, mutation }: { id: string; mutation: string }) {
  await killAfterCommit(scene.service, scene.project.id, nextVictim(), (victim) => send(mutation, victim))
  expect(await countRecords(id)).toEqual(one)
  const response = await send(mutation)
  expect(await countRecords(id)).toEqual(one)
  const started = (await scene.runsOf(id)).at(-1)?.id
  await expectOneDelivery(id)
  return { started, response }
}

test('run now: a kill after the commit leaves one run, which the repeated request returns', async () => {
  const { started, response } = await repeatAfterKill(await prepareRun())
  expect([response.error, response.data.run.id]).toEqual([null, started])
}, 10_000)

test('retry: a kill after the commit leaves one run, which the repeated request names', async () => {
  const { started, response } = await repeatAfterKill(await prepareRetry())
  expect(response.error).toMatch(`the run ${started} is already a pending retry of this run`)
}, 10_000)
