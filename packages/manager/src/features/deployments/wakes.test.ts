// These tests wake deployments with several processes. Only one process calls the orchestrator, and no
// process waits for a killed process.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type TestApp, dropReferences, startTestApp } from '../../../test/kit/app.ts'
import { createFakeOrchestrator, proxyCalls, seedSpecification } from '../../../test/kit/deployments.ts'
import { useProject } from '../../../test/kit/project.ts'
import { OrchestratorFailure } from '../../platform/orchestrator/orchestrator.ts'

let before: (calls: number) => Promise<void> | void
const orchestrator = createFakeOrchestrator((calls) => before(calls))
const { service, project } = useProject({ world: { orchestrator } })
const others = {} as { second: TestApp; without: TestApp }
beforeAll(async () => {
  others.second = await startTestApp({ database: service.database, world: { orchestrator } })
  others.without = await startTestApp({ database: service.database })
})
afterAll(async () => {
  for (const app of [others.second, others.without]) {
    await app.close()
    dropReferences(app)
  }
})

let id: string
const place = () => ({ app_id: project.applicationId, env: 'dev' })
beforeEach(async () => {
  before = () => undefined
  orchestrator.calls.length = 0
  orchestrator.floors.clear()
  await service.sql.query('delete from deployment_specifications')
  id = await seedSpecification(service.sql, project, { scaleToZero: true })
})
const first = proxyCalls(() => service.url)
const second = proxyCalls(() => others.second.url)
const without = proxyCalls(() => others.without.url)
/** Inserts the claim of a killed process, which expires after the given number of seconds. */
const leaveClaim = (seconds: number) =>
  service.sql.query(
    `insert into deployment_wakes (specification_id, holder, claimed_until)
     values ($1, $2, now() + make_interval(secs => $3))`,
    [id, randomUUID(), seconds],
  )

describe('two processes', () => {
  test('[deployments.wake] share one call of the orchestrator, and its result', async () => {
    const going = Promise.withResolvers<void>()
    before = () => going.promise
    const one = first.wake(place())
    await expect.poll(() => orchestrator.calls.length).toBe(1)
    const rest = [second.wake(place()), second.wake(place()), first.wake(place())]
    // The other process has read the state and is polling it.
    others.second.statements.length = 0
    const looks = () => others.second.statements.filter((text) => text.includes('deployment_wakes')).length
    await expect.poll(looks).toBeGreaterThan(2)
    going.resolve()
    for (const answer of await Promise.all([one, ...rest]))
      expect(answer).toMatchObject({ status: 202, body: { min_replicas: 1, already_awake: false } })
    expect(orchestrator.calls).toHaveLength(1)
  })

  test('[deployments.wake-refused] share its failure, and a request after half a second tries again', async () => {
    const going = Promise.withResolvers<void>()
    before = async (calls) => {
      if (calls > 1) return
      await going.promise
      throw new OrchestratorFailure('the API server does not answer')
    }
    const one = first.wake(place())
    await expect.poll(() => orchestrator.calls.length).toBe(1)
    others.second.statements.length = 0
    const other = second.wake(place())
    const looks = () => others.second.statements.filter((text) => text.includes('deployment_wakes')).length
    await expect.poll(looks).toBeGreaterThan(1)
    going.resolve()
    for (const answer of await Promise.all([one, other]))
      expect(answer).toMatchObject({ status: 502, body: { error: 'the API server does not answer' } })
    await service.sql.query(`update deployment_wakes set ended_at = now() - interval '0.6 seconds'`)
    expect((await second.wake(place())).status).toBe(202)
    expect(orchestrator.calls).toHaveLength(2)
  })

  test('a claim that a killed process has left runs out, and somebody else wakes', async () => {
    await leaveClaim(1)
    const answers = await Promise.all([first.wake(place()), second.wake(place()), second.wake(place())])
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202])
    expect(orchestrator.calls).toHaveLength(1)
  })

  test('a specification that is deleted or closed while somebody waits is refused with 409', async () => {
    await leaveClaim(600)
    others.second.statements.length = 0
    const waits = second.wake(place())
    await expect.poll(() => others.second.statements.length).toBeGreaterThan(1)
    await service.sql.query('delete from deployment_specifications where id = $1', [id])
    expect((await waits).status).toBe(409)
    expect(orchestrator.calls).toEqual([])
  })

  test('a process whose claim ran out does not overwrite what its successor has got', async () => {
    const going = Promise.withResolvers<void>()
    before = async (calls) => {
      if (calls > 1) return
      await going.promise
      throw new OrchestratorFailure('late')
    }
    const late = first.wake(place())
    await expect.poll(() => orchestrator.calls.length).toBe(1)
    await service.sql.query('update deployment_wakes set claimed_until = now()')
    expect((await second.wake(place())).status).toBe(202)
    going.resolve()
    expect((await late).status).toBe(502)
    const { rows } = await service.sql.query('select failure, min_replicas from deployment_wakes')
    expect(rows).toEqual([{ failure: null, min_replicas: 1 }])
  })
})

describe('a service without an orchestrator', () => {
  test('[deployments.wake-refused] answers 409 for every deployment without the flag, as before', async () => {
    await service.sql.query('update deployment_specifications set scale_to_zero = false')
    for (const env of ['dev', 'qas', 'run'])
      expect(await without.wake({ ...place(), env })).toMatchObject({
        status: 409,
        body: { error: 'the deployment is not scale-to-zero eligible' },
      })
    expect((await without.wake({ ...place(), env: 'prod' })).status).toBe(404)
    expect((await without.wake({ ...place(), app_id: randomUUID() })).status).toBe(404)
    expect((await without.ask('deployment', place())).body).toEqual({
      scale_to_zero: false,
      healthy_backends: 0,
    })
  })

  test('[deployments.wake-refused] answers 502 for an eligible one, and says what to set', async () => {
    expect(await without.wake(place())).toMatchObject({
      status: 502,
      body: { error: 'no orchestrator is configured; set orchestrator.kind (SVC_ORCHESTRATOR_KIND)' },
    })
    const { rowCount } = await service.sql.query('select from deployment_wakes')
    expect(rowCount).toBe(0)
  })
})
