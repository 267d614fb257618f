// Tests service processes that wake deployments on a real API server, and their responses to the proxy.
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Kubernetes, kubernetesTokens, startKubernetes } from '@manager/harness/engines/kubernetes.ts'
import { proxySecret } from '@manager/harness/callers.ts'
import { testEnv } from '@manager/harness/test-env.ts'
import { type TestApp, startTestApp } from '../kit/app.ts'
import { type ServiceProcess, runUntilExit, startProcess } from '@manager/harness/process.ts'
import { runManager } from '../kit/commands.ts'
import { type SeededProject, seedProject, seedUser } from '@manager/harness/seed.ts'

let cluster: Kubernetes
let first: TestApp
let project: SeededProject
let tokenFile: string
let env: Record<string, string>
const processes: ServiceProcess[] = []

beforeAll(async () => {
  cluster = await startKubernetes()
  const account = path.join(cluster.folder, 'service-account')
  mkdirSync(account)
  writeFileSync(path.join(account, 'ca.crt'), cluster.authority.cert)
  tokenFile = path.join(account, 'token')
  writeFileSync(tokenFile, kubernetesTokens.admin)
  env = {
    SVC_ORCHESTRATOR_KIND: 'kubernetes',
    SVC_ORCHESTRATOR_API_SERVER: cluster.server,
    SVC_ORCHESTRATOR_SERVICE_ACCOUNT: account,
  }
  first = await startTestApp()
  const admin = await seedUser(first.sql, 'admin', 'administrator')
  project = await seedProject(first.sql, 'shop')
  await cluster.kubectl(['create', 'deployment', 'orders', '--image=none', '--replicas=0'])
  await first.query(
    admin,
    `mutation ($application: ID!, $environment: ID!) {
      createDeploymentSpecification(applicationId: $application,
        input: { environmentId: $environment, workload: "default/orders", image: "orders", minReplicas: 0, maxReplicas: 3 }) { id } }`,
    { application: project.applicationId, environment: project.environmentId },
  )
  const set = ['deployment', 'scale-to-zero', project.applicationId, 'dev', 'on']
  expect(await runManager(set, testEnv(first.database.url))).toMatchObject({ code: 0 })
  for (let count = 0; count < 2; count++) processes.push(await startProcess(first.database.url, env))
})
afterAll(async () => {
  for (const { child, exit } of processes) {
    child.kill('SIGKILL')
    await exit
  }
  await first.close()
  await cluster.stop()
})
beforeEach(async () => {
  writeFileSync(tokenFile, kubernetesTokens.admin)
  await cluster.kubectl(['scale', 'deployment', 'orders', '--replicas=0'])
  // The result of a wake is cached for 2 s.
  await first.sql.query('delete from deployment_wakes')
})

async function wake(
  environment = 'dev',
  from = 0,
): Promise<{ status: number; body: Record<string, unknown> }> {
  const query = new URLSearchParams({ app_id: project.applicationId, env: environment })
  const response = await fetch(`${processes[from]?.url}/api/proxy/wake?${query}`, {
    method: 'POST',
    headers: { 'x-proxy-auth': proxySecret },
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}
const fieldOf = (field: string) =>
  cluster.kubectl(['get', 'deployment', 'orders', '-o', `jsonpath={${field}}`])

test('a deployment is woken with 202, and asked again it is awake', async () => {
  expect(await wake()).toEqual({
    status: 202,
    body: { success: true, min_replicas: 1, already_awake: false },
  })
  expect(await fieldOf('.spec.replicas')).toBe('1')
  expect(await wake('dev', 1)).toEqual({
    status: 202,
    body: { success: true, min_replicas: 1, already_awake: true },
  })
  expect((await wake('qas')).status).toBe(409)
})

test('100 requests to two processes change the Deployment once', async () => {
  const before = Number(await fieldOf('.metadata.generation'))
  const answers = await Promise.all(Array.from({ length: 100 }, (_, index) => wake('dev', index % 2)))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]))
  expect(Number(await fieldOf('.metadata.generation'))).toBe(before + 1)
  expect(await fieldOf('.spec.replicas')).toBe('1')
})

test('without rights a wake is 502 and says why, and with the next token it is 202', async () => {
  writeFileSync(tokenFile, kubernetesTokens.limited)
  expect(await wake()).toMatchObject({
    status: 502,
    body: {
      error:
        'cannot list the HorizontalPodAutoscalers of default: the role of the service account does not allow this request (403 Forbidden)',
    },
  })
  writeFileSync(tokenFile, kubernetesTokens.admin)
  await expect.poll(async () => (await wake()).status, { timeout: 5_000 }).toBe(202)
})

test('without the API server a wake is 502 within 5 seconds, and 202 when it is back', async () => {
  await cluster.stopServer()
  const started = performance.now()
  expect((await wake()).status).toBe(502)
  expect(performance.now() - started).toBeLessThan(5_000)
  await cluster.startServer()
  await expect.poll(async () => (await wake()).status, { timeout: 5_000 }).toBe(202)
  cluster.signalServer('SIGSTOP')
  await first.sql.query('delete from deployment_wakes')
  const asked = performance.now()
  const hanging = await wake().finally(() => cluster.signalServer('SIGCONT'))
  expect([hanging.status, String(hanging.body['error'])]).toEqual([
    502,
    expect.stringContaining('did not respond in time'),
  ])
  expect(performance.now() - asked).toBeLessThan(5_000)
})

test('no token is in a log line', () => {
  const lines = processes.flatMap((process) => process.lines)
  expect(lines.join('\n')).toContain('could not wake a deployment')
  for (const token of Object.values(kubernetesTokens)) expect(lines.join('\n')).not.toContain(token)
})

test('a service that cannot read its access to Kubernetes does not start, and says why', async () => {
  const broken = { ...env, SVC_ORCHESTRATOR_SERVICE_ACCOUNT: '/does/not/exist' }
  const { code, stderr } = await runUntilExit(
    testEnv(first.database.url, { ...broken, SVC_PORT: '0', SVC_HEALTH_PORT: '0' }),
  )
  expect([code, stderr]).toEqual([
    1,
    'start failed: Kubernetes access: /does/not/exist/token cannot be read (ENOENT)\n',
  ])
})
