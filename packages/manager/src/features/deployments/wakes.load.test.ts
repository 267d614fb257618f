// These tests send very many wake requests to three processes, one of which is killed, and check the lookup cost.
import { randomUUID } from 'node:crypto'
import { Agent, request } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { throughProxy } from '@manager/harness/credentials.ts'
import { proxyCalls, seedSpecification } from '../../../test/kit/deployments.ts'
import { loadSize } from '@manager/harness/load-sizes.ts'
import { planOf } from '../../../test/kit/plans.ts'
import { type ServiceProcess, startProcess } from '@manager/harness/process.ts'
import { useProject } from '../../../test/kit/project.ts'
import { seedMachineUser } from '@manager/harness/seed.ts'
import { wakingProgram, workloadsTable } from '../../../test/kit/waking-process.ts'

const { service, project } = useProject()
const agent = new Agent({ keepAlive: true, maxSockets: Infinity })
const processes: ServiceProcess[] = []
const start = async (): Promise<ServiceProcess> => {
  const started = await startProcess(service.database.url, {}, { program: wakingProgram })
  processes.push(started)
  return started
}
beforeAll(async () => {
  await service.sql.query(workloadsTable)
  await Promise.all([start(), start(), start()])
}, 120_000)
afterAll(async () => {
  agent.destroy()
  for (const { child, exit } of processes) {
    child.kill('SIGKILL')
    await exit
  }
})
beforeEach(async () => {
  await service.sql.query('delete from test_workloads')
  await service.sql.query("insert into test_workloads (name) values ('shop/web')")
  await service.sql.query('delete from deployment_specifications')
  await seedSpecification(service.sql, project, { scaleToZero: true })
})

const place = () => JSON.stringify({ app_id: project.applicationId, env: 'dev' })
type Answer = { status: number; ms: number; text: string }
const post = (url: string, body: string): Promise<Omit<Answer, 'ms'>> =>
  new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': body.length, ...throughProxy() }
    const outgoing = request(`${url}/api/proxy/wake`, { method: 'POST', agent, headers }, (response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => (text += chunk.toString()))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    outgoing.on('error', reject).end(body)
  })
/** Sends a wake as a proxy does, and retries if the service reports that it is overloaded. */
async function wake(url: string, body = place()): Promise<Answer> {
  const from = performance.now()
  for (;;) {
    const answer = await post(url, body)
    const ms = performance.now() - from
    if (!answer.text.includes('the service is overloaded') || ms > 60_000) return { ...answer, ms }
    await new Promise((resolve) => setTimeout(resolve, 1_000))
  }
}
const workload = async () =>
  (await service.sql.query('select replicas, calls, changes, hangs from test_workloads')).rows[0] as Record<
    string,
    number | boolean
  >
const living = () => processes.filter(({ child }) => child.exitCode === null && child.signalCode === null)
/** Sends `count` concurrent wakes, distributed over all processes. */
const wakes = (count: number) =>
  Promise.all(
    Array.from({ length: count }, (_, n) => wake((living()[n % living().length] as ServiceProcess).url)),
  )

describe('three processes', { timeout: 120_000 }, () => {
  test('[deployments.wake] 500 wakes at once cause one change, and all are answered 202', async () => {
    for (let round = 0; round < loadSize(2, 3); round++) {
      await service.sql.query('update test_workloads set replicas = 0, calls = 0, changes = 0')
      await service.sql.query('delete from deployment_wakes')
      const answers = await wakes(500)
      expect(
        Map.groupBy(answers, ({ status }) => status)
          .keys()
          .toArray(),
      ).toEqual([202])
      const { calls, changes } = await workload()
      expect(changes).toBe(1)
      // A slow machine may need longer for 500 responses than the lifetime of a result. Later requests then find the
      // deployment awake.
      expect(calls).toBeLessThan(10)
    }
  })

  test('a flood for unknown applications leaves the connections to others', async () => {
    const unknown = () => JSON.stringify({ app_id: randomUUID(), env: 'dev' })
    const [{ url }] = living() as [ServiceProcess]
    const flood = Array.from({ length: 1_000 }, () => wake(url, unknown()))
    const { status, body } = await proxyCalls(() => url).ask('ready', JSON.parse(place()) as object)
    expect([status, body]).toEqual([200, { ready: false, backends: 0, retry_after_ms: 1_000 }])
    const statuses = new Set((await Promise.all(flood)).map(({ status: one }) => one))
    expect([...statuses]).toEqual([404])
    expect(await workload()).toMatchObject({ calls: 0 })
  })

  test('one that is killed while it wakes delays the others by seconds, and one of them wakes', async () => {
    await service.sql.query('update test_workloads set hangs = true')
    const [victim] = living() as [ServiceProcess]
    const lost = wake(victim.url).catch((error: unknown) => error)
    await expect.poll(async () => (await workload())['calls']).toBe(1)
    victim.child.kill('SIGKILL')
    await victim.exit
    expect(await lost).toBeInstanceOf(Error)
    const answers = await wakes(100)
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]))
    expect(await workload()).toMatchObject({ replicas: 1, changes: 1, hangs: false })
    // A claim lasts 8 s; the rest is a margin for a busy machine.
    expect(Math.max(...answers.map(({ ms }) => ms))).toBeLessThan(30_000)
    await start()
  })
})

test('the lookups are by key, however many deployments there are', async () => {
  await service.sql.query(
    `with made as (
       insert into applications (id, project_id, name, slug)
       select gen_random_uuid(), $1, 'many', 'many-' || n from generate_series(1, $3::int) n returning id
     )
     insert into deployment_specifications (id, project_id, application_id, environment_id, workload, image, version,
       min_replicas, max_replicas, port, health_path, readiness_timeout_seconds)
     select gen_random_uuid(), $1, id, $2, 'many/web', 'web', '', 1, 1, 80, '/', 1 from made`,
    [project.id, project.environmentId, loadSize(5_000, 20_000)],
  )
  const { id: machineUserId } = await seedMachineUser(service.sql, project)
  await service.sql.query(
    `insert into backend_registrations (id, project_id, application_id, environment_id, machine_user_id, callback_url,
       callback_token, version)
     select gen_random_uuid(), project_id, application_id, environment_id, $1, 'https://backend.example.com/', '', ''
     from deployment_specifications`,
    [machineUserId],
  )
  await service.sql.query('analyze')
  service.statements.length = 0
  await proxyCalls(() => service.url).ask('ready', JSON.parse(place()) as object)
  const [find = '', count = ''] = service.statements.filter((text) => text.includes('wanted'))
  for (const text of [find, count]) {
    const scans = (await planOf(service.database.url, text)).filter((line) => line.includes('Scan'))
    expect(scans.filter((line) => line.includes('Seq Scan'))).toEqual([])
  }
  expect((await planOf(service.database.url, find)).map((line) => line.trim())).toEqual(
    expect.arrayContaining([
      'Index Scan applications applications_pkey',
      'Index Scan environments environments_project_id_name_key',
      'Index Scan deployment_specifications deployment_specifications_deployment_key',
      'Index Scan deployment_wakes deployment_wakes_pkey',
    ]),
  )
  expect((await planOf(service.database.url, count)).map((line) => line.trim())).toEqual(
    expect.arrayContaining(['Index Scan backend_registrations backend_registrations_deployment_idx']),
  )
})
