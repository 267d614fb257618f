// These tests cover the proxy requests about deployments: wake, ready and deployment.
import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { backdateHeartbeat, callbackUrl, register } from '@manager/harness/backends.ts'
import { createFakeOrchestrator, proxyCalls, seedSpecification } from '../../../test/kit/deployments.ts'
import { call } from '@manager/harness/credentials.ts'
import { useProject } from '../../../test/kit/project.ts'
import { type SeededProject, seedMachineUser } from '@manager/harness/seed.ts'
import { OrchestratorFailure } from '../../platform/orchestrator/orchestrator.ts'

let before: (calls: number) => Promise<void> | void
const orchestrator = createFakeOrchestrator((calls) => before(calls))
const { service, project, other } = useProject({ withOther: true, world: { orchestrator } })
const { wake, wakeByQuery, ask, askByBody } = proxyCalls(() => service.url)
beforeEach(async () => {
  before = () => undefined
  orchestrator.calls.length = 0
  orchestrator.floors.clear()
  await service.sql.query('delete from backend_registrations')
  await service.sql.query('delete from deployment_specifications')
})

const at = (env: string, { applicationId: app_id }: SeededProject = project) => ({ app_id, env })
const eligible = (env = 'dev', of: SeededProject = project, workload = 'shop/web') =>
  seedSpecification(service.sql, of, { environment: env, scaleToZero: true, workload })
async function backend(of: SeededProject = project) {
  const { id: machineUserId, token } = await seedMachineUser(service.sql, of)
  const { body } = await register(service, token, {
    application_id: of.applicationId,
    callback_url: callbackUrl,
  })
  return { id: body.registered_id as string, machineUserId }
}
/** Deletes the result of the last wake. */
const forget = () => service.sql.query('delete from deployment_wakes')
const awake = (already_awake: boolean, min_replicas = 1) => ({
  status: 202,
  body: { success: true, min_replicas, already_awake },
})
const refused = (status: number, error: string) => ({ status, body: { error } })

describe('POST /api/proxy/wake', () => {
  test('[deployments.wake] 202: raises the floor to 1, and says the same again on a repeat', async () => {
    await eligible()
    expect(await wake(at('dev'))).toMatchObject(awake(false))
    expect(orchestrator.calls).toEqual([{ namespace: 'shop', name: 'web' }])
    // An immediate retry uses the stored result. A later wake calls the orchestrator again.
    expect(await wake(at('dev'))).toMatchObject(awake(true))
    expect(orchestrator.calls).toHaveLength(1)
    await forget()
    expect(await wake(at('dev'))).toMatchObject(awake(true))
    expect(orchestrator.calls).toHaveLength(2)
    expect(orchestrator.floors.get('shop/web')).toBe(1)
  })

  test('[deployments.wake] a floor of 3 stays 3', async () => {
    await eligible()
    orchestrator.floors.set('shop/web', 3)
    expect(await wake(at('dev'))).toMatchObject(awake(true, 3))
    expect(await wake(at('dev'))).toMatchObject(awake(true, 3))
    expect(orchestrator.floors.get('shop/web')).toBe(3)
  })

  test('[deployments.wake] fifty at once cause one change, and all get its answer', async () => {
    await eligible()
    const going = Promise.withResolvers<void>()
    before = () => going.promise
    const answers = Array.from({ length: 50 }, () => wake(at('dev')))
    await expect.poll(() => orchestrator.calls.length).toBe(1)
    going.resolve()
    for (const answer of await Promise.all(answers)) expect(answer.status).toBe(202)
    expect(orchestrator.calls).toHaveLength(1)
  })

  test('[deployments.wake] what is kept or going on of one deployment is not that of another', async () => {
    await eligible()
    await eligible('run', project, 'shop/run')
    await eligible('dev', other, 'other/web')
    for (const place of [at('dev'), at('run'), at('dev', other)])
      expect(await wake(place)).toMatchObject(awake(false))
    expect([...orchestrator.floors]).toEqual([
      ['shop/web', 1],
      ['shop/run', 1],
      ['other/web', 1],
    ])
  })

  test('[deployments.wake-refused] 409 without the flag, with and without a specification', async () => {
    const text = 'the deployment is not scale-to-zero eligible'
    expect(await wake(at('dev'))).toMatchObject(refused(409, text))
    await seedSpecification(service.sql, project)
    expect(await wake(at('dev'))).toMatchObject(refused(409, text))
    await eligible('run')
    expect(await wake(at('qas'))).toMatchObject(refused(409, text))
    expect(orchestrator.calls).toEqual([])
  })

  test('[deployments.wake-refused] 409 as soon as the flag is off, whatever is kept', async () => {
    const id = await eligible()
    expect((await wake(at('dev'))).status).toBe(202)
    await service.sql.query('update deployment_specifications set scale_to_zero = false where id = $1', [id])
    expect((await wake(at('dev'))).status).toBe(409)
  })

  test('[deployments.wake-refused] 502 with the text of the orchestrator, for all who waited, and no longer than half a second for those after them', async () => {
    await eligible()
    const going = Promise.withResolvers<void>()
    before = async (calls) => {
      if (calls > 1) return
      await going.promise
      throw new OrchestratorFailure('cannot read the Deployment shop/web: forbidden')
    }
    const answers = [wake(at('dev')), wake(at('dev'))]
    await expect.poll(() => orchestrator.calls.length).toBe(1)
    going.resolve()
    for (const answer of await Promise.all(answers))
      expect(answer).toMatchObject(refused(502, 'cannot read the Deployment shop/web: forbidden'))
    // The database clock determines whether the result is still valid.
    await service.sql.query(`update deployment_wakes set ended_at = now() + interval '1 minute'`)
    expect(await wake(at('dev'))).toMatchObject({ status: 502 })
    await service.sql.query(`update deployment_wakes set ended_at = now() - interval '0.6 seconds'`)
    expect(await wake(at('dev'))).toMatchObject(awake(false))
  })

  test('[deployments.wake-refused] 502 for an error of another kind, which only the log shows', async () => {
    await eligible()
    before = () => {
      throw new Error('token abc')
    }
    expect(await wake(at('dev'))).toMatchObject(
      refused(502, 'the orchestrator failed; see the log of the Manager'),
    )
    expect(service.logLines.findLast(({ msg }) => msg === 'could not wake a deployment')).toMatchObject({
      err: { message: 'token abc' },
    })
  })
})

describe('GET /api/proxy/ready', () => {
  test('[deployments.ready] without backends it is not ready, which is no 404, and says when to ask again', async () => {
    const nobody = { ready: false, backends: 0, retry_after_ms: 1_000 }
    for (const env of ['dev', 'qas', 'run'])
      expect(await ask('ready', at(env))).toMatchObject({ status: 200, body: nobody })
  })

  test('[deployments.ready] counts backends with a fresh heartbeat, of enabled machine users, in this environment', async () => {
    const [first, second] = [await backend(), await backend()]
    await backend(other)
    expect((await ask('ready', at('dev'))).body).toEqual({ ready: true, backends: 2 })
    expect((await ask('ready', at('run'))).body).toMatchObject({ ready: false, backends: 0 })
    await service.sql.query(
      `update heartbeat_reception set received_until = 'infinity',
         outage_from = now() - interval '3 days', outage_until = now() - interval '3 days'`,
    )
    await backdateHeartbeat(service, first.id, '91 seconds')
    expect((await ask('ready', at('dev'))).body).toEqual({ ready: true, backends: 1 })
    await service.sql.query('update machine_users set enabled = false where id = $1', [second.machineUserId])
    expect((await ask('ready', at('dev'))).body).toMatchObject({ ready: false, backends: 0 })
  })
})

describe('GET /api/proxy/deployment', () => {
  test('[deployments.deployment] says whether it may be scaled to zero, and how many backends are live', async () => {
    expect((await ask('deployment', at('dev'))).body).toEqual({ scale_to_zero: false, healthy_backends: 0 })
    await seedSpecification(service.sql, project)
    await backend()
    expect((await ask('deployment', at('dev'))).body).toEqual({ scale_to_zero: false, healthy_backends: 1 })
    await eligible()
    expect((await ask('deployment', at('dev'))).body).toEqual({ scale_to_zero: true, healthy_backends: 1 })
    expect((await ask('deployment', at('run'))).body).toEqual({ scale_to_zero: false, healthy_backends: 0 })
  })
})

describe('which deployment', () => {
  const everyWay = [
    ['wake, body', (place: object) => wake(place)],
    ['wake, query', (place: object) => wakeByQuery(place)],
    ['ready, query', (place: object) => ask('ready', place)],
    ['ready, body', (place: object) => askByBody('ready', JSON.stringify(place))],
    ['deployment, query', (place: object) => ask('deployment', place)],
    ['deployment, body', (place: object) => askByBody('deployment', JSON.stringify(place))],
  ] as const

  test.each(everyWay)(
    '[deployments.parameters] %s: app_id and env are read, with the secret alone',
    async (_, send) => {
      await eligible()
      const { status, body } = await send(at('dev'))
      expect([200, 202]).toContain(status)
      expect(body).not.toHaveProperty('error')
      expect((await send({ ...at('dev'), app_id: project.applicationId.toUpperCase() })).status).toBe(status)
      expect(await send({ app_id: project.applicationId })).toMatchObject(
        refused(400, 'env is required, in the query or in a JSON body'),
      )
      expect(await send({ env: 'dev' })).toMatchObject(
        refused(400, 'app_id is required, in the query or in a JSON body'),
      )
    },
  )

  test.each(everyWay)(
    '[deployments.unknown] %s: 404 for an unknown application or environment',
    async (_, send) => {
      await eligible()
      for (const app_id of [randomUUID(), 'nonsense', project.environmentId])
        expect(await send({ app_id, env: 'dev' })).toMatchObject(refused(404, 'Application not found'))
      for (const env of ['prod', 'DEV', ' dev', "dev' or '1'='1"])
        expect(await send(at(env))).toMatchObject(refused(404, 'Environment not found'))
      expect(orchestrator.calls).toEqual([])
    },
  )

  test('[deployments.unknown] an application that was deleted is unknown', async () => {
    const id = randomUUID()
    await service.sql.query(
      "insert into applications (id, project_id, name, slug) values ($1, $2, 'x', 'gone')",
      [id, project.id],
    )
    await eligible('dev', { ...project, applicationId: id })
    expect((await wake({ app_id: id, env: 'dev' })).status).toBe(202)
    await service.sql.query('delete from applications where id = $1', [id])
    expect((await wake({ app_id: id, env: 'dev' })).status).toBe(404)
    expect((await ask('ready', { app_id: id, env: 'dev' })).status).toBe(404)
  })

  test('[deployments.parameters] what is malformed, too long, or not the same in both places is 400', async () => {
    const long = 'a'.repeat(101)
    for (const [body, problem] of [
      ['[]', 'send a JSON object'],
      ['"x"', 'send a JSON object'],
      ['{"app_id":5,"env":"dev"}', 'app_id must be a string'],
      [`{"app_id":"${long}","env":"dev"}`, 'app_id must have at most 100 characters'],
      ['{"app_id":', 'the request body is not valid JSON'],
    ] as const) {
      expect(await askByBody('ready', body)).toMatchObject(refused(400, problem))
      const sent = { method: 'POST', body, headers: { 'content-type': 'application/json' } }
      const response = await fetch(`${service.url}/api/proxy/wake`, {
        ...sent,
        headers: { ...sent.headers, 'x-proxy-auth': service.config.proxySecret ?? '' },
      })
      expect([body, response.status, await response.json()]).toMatchObject([body, 400, { error: problem }])
    }
    const twice = `/api/proxy/ready?app_id=${project.applicationId}&app_id=${project.applicationId}&env=dev`
    const headers = { 'x-proxy-auth': service.config.proxySecret ?? '' }
    expect(await call(service.url, twice, headers)).toMatchObject(
      refused(400, 'app_id must appear at most once'),
    )
    const both = `/api/proxy/wake?app_id=${project.applicationId}&env=dev`
    expect(await call(service.url, both, headers, { env: 'run' })).toMatchObject(
      refused(400, 'env must be the same in the query and in the body'),
    )
    expect((await call(service.url, both, headers, { env: 'dev' })).status).toBe(409)
  })

  test('[deployments.parameters] the body of a GET is bounded, and is JSON', async () => {
    const large = JSON.stringify({ ...at('dev'), more: 'x'.repeat(20_000) })
    expect(await askByBody('ready', large)).toMatchObject(
      refused(413, 'the body must be at most 16384 bytes long'),
    )
    expect((await askByBody('ready', JSON.stringify(at('dev')), 'text/plain')).status).toBe(415)
    expect((await askByBody('ready', JSON.stringify(at('dev')))).status).toBe(200)
  })

  test('a question costs at most two lookups by key, and one for something unknown one', async () => {
    await ask('ready', at('dev'))
    service.statements.length = 0
    await Promise.all(Array.from({ length: 30 }, () => ask('ready', at('dev'))))
    await Promise.all(Array.from({ length: 30 }, () => wake({ app_id: randomUUID(), env: 'dev' })))
    expect(service.statements.filter((text) => /wanted/.test(text)).length).toBeLessThanOrEqual(30 * 2 + 30)
    expect(service.statements.filter((text) => !/wanted/.test(text))).toEqual([])
  })
})
