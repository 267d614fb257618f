// Tests waking workloads on a real API server, with real rejections and concurrent writers.
import { createServer } from 'node:net'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createKubernetesOrchestrator } from '../../src/platform/orchestrator/kubernetes.ts'
import { type Orchestrator, OrchestratorFailure } from '../../src/platform/orchestrator/orchestrator.ts'
import { type Kubernetes, kubernetesTokens, startKubernetes } from '@manager/harness/engines/kubernetes.ts'
import { createCertificate } from '@manager/harness/certificates.ts'
import { startInterferingProxy } from '../kit/kubernetes.ts'

let cluster: Kubernetes
const opened: Orchestrator[] = []
const namespace = 'workloads'

beforeAll(async () => {
  cluster = await startKubernetes()
  await cluster.kubectl(['create', 'namespace', namespace])
  const rights = [
    '--verb=get,list,patch',
    '--resource=deployments.apps/scale,horizontalpodautoscalers.autoscaling',
  ]
  await cluster.kubectl(['-n', namespace, 'create', 'role', 'waker', ...rights])
})
afterEach(async () => {
  for (const orchestrator of opened.splice(0)) await orchestrator.close()
})
afterAll(() => cluster.stop())

let number = 0
/** Creates a folder with a token and a CA certificate, as in a pod. */
function accountOf(token: string, authority = cluster.authority.cert): string {
  const folder = path.join(cluster.folder, `account-${++number}`)
  mkdirSync(folder)
  writeFileSync(path.join(folder, 'token'), token)
  writeFileSync(path.join(folder, 'ca.crt'), authority)
  return folder
}

/** Creates an orchestrator that uses the service account in this folder. */
function orchestratorIn(serviceAccountFolder: string, server = cluster.server): Orchestrator {
  const orchestrator = createKubernetesOrchestrator({ server, serviceAccountFolder })
  opened.push(orchestrator)
  return orchestrator
}
const orchestratorOf = (token: string = kubernetesTokens.admin, server = cluster.server): Orchestrator =>
  orchestratorIn(accountOf(token), server)

const deploymentOf = (name: string, replicas: number) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'c', image: 'none' }] } },
  },
})

const autoscalerOf = (name: string, target: string, minReplicas: number) => ({
  apiVersion: 'autoscaling/v2beta2',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name, namespace },
  spec: {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: target },
    minReplicas,
    maxReplicas: 5,
    // Without an external metric, the server rejects a minimum of 0 replicas.
    metrics: [
      {
        type: 'External',
        external: { metric: { name: 'calls' }, target: { type: 'Value', value: '10' } },
      },
    ],
    behavior: { scaleDown: { stabilizationWindowSeconds: 77 } },
  },
})

const create = (...items: object[]) =>
  cluster.kubectl(['create', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
const valueOf = async (kind: string, name: string, field: string): Promise<string> =>
  cluster.kubectl(['-n', namespace, 'get', kind, name, '-o', `jsonpath={${field}}`])
/** Returns the spec of an autoscaler in the newest API version of this server. */
const wholeSpecOf = async (name: string): Promise<string> => {
  const path = `/apis/autoscaling/v2beta2/namespaces/${namespace}/horizontalpodautoscalers/${name}`
  return JSON.stringify((JSON.parse(await cluster.kubectl(['get', '--raw', path])) as { spec: unknown }).spec)
}
const replicasOf = (name: string) => valueOf('deployment', name, '.spec.replicas')
const floorOf = (name: string) => valueOf('hpa', name, '.spec.minReplicas')

/** Returns the message of the failure. */
async function failureOf(waking: Promise<unknown>): Promise<string> {
  const error = await waking.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(OrchestratorFailure)
  const { message } = error as Error
  for (const secret of [kubernetesTokens.admin, kubernetesTokens.limited])
    expect(message).not.toContain(secret)
  return message
}

test('a Deployment with 0 replicas gets 1, and a ReplicaSet of it as well', async () => {
  await create(deploymentOf('zero', 0))
  const orchestrator = orchestratorOf()
  expect(await orchestrator.wake({ namespace, name: 'zero' })).toEqual({
    minReplicas: 1,
    alreadyAwake: false,
  })
  expect(await replicasOf('zero')).toBe('1')
  await expect
    .poll(() =>
      cluster.kubectl([
        '-n',
        namespace,
        'get',
        'rs',
        '-l',
        'app=zero',
        '-o',
        'jsonpath={.items[*].spec.replicas}',
      ]),
    )
    .toBe('1')
  const version = await valueOf('deployment', 'zero', '.metadata.generation')
  expect(await orchestrator.wake({ namespace, name: 'zero' })).toEqual({ minReplicas: 1, alreadyAwake: true })
  expect(await valueOf('deployment', 'zero', '.metadata.generation')).toBe(version)
})

test('a Deployment with 3 replicas keeps them', async () => {
  await create(deploymentOf('three', 3))
  const raised = await orchestratorOf().wake({ namespace, name: 'three' })
  expect(raised).toEqual({ minReplicas: 3, alreadyAwake: true })
  expect(await replicasOf('three')).toBe('3')
  expect(await valueOf('deployment', 'three', '.metadata.generation')).toBe('1')
})

test('the floor of an autoscaler is raised from 0 to 1, and nothing else of it changes', async () => {
  // The first autoscaler in the list belongs to a different workload. The names of autoscalers differ from those of
  // their workloads.
  await create(deploymentOf('scaled', 0), deploymentOf('other', 0))
  await create(autoscalerOf('a-first', 'other', 0), autoscalerOf('by-calls', 'scaled', 0))
  const before = await wholeSpecOf('by-calls')
  expect(await orchestratorOf().wake({ namespace, name: 'scaled' })).toEqual({
    minReplicas: 1,
    alreadyAwake: false,
  })
  expect([await floorOf('by-calls'), await replicasOf('scaled')]).toEqual(['1', '1'])
  const after = await wholeSpecOf('by-calls')
  expect(before).toContain('"stabilizationWindowSeconds":77')
  expect(after).toBe(before.replace('"minReplicas":0', '"minReplicas":1'))
  expect([await floorOf('a-first'), await replicasOf('other')]).toEqual(['0', '0'])
})

test('an autoscaler with a floor of 3 keeps it, and its workload of 0 replicas gets 1', async () => {
  await create(deploymentOf('floor-three', 0), autoscalerOf('floor-three', 'floor-three', 3))
  const orchestrator = orchestratorOf()
  const workload = { namespace, name: 'floor-three' }
  expect(await orchestrator.wake(workload)).toEqual({ minReplicas: 3, alreadyAwake: false })
  expect(await floorOf('floor-three')).toBe('3')
  // From 1 replica on, the autoscaler takes over.
  await expect.poll(async () => Number(await replicasOf('floor-three'))).toBeGreaterThanOrEqual(1)
  expect(await orchestrator.wake(workload)).toEqual({ minReplicas: 3, alreadyAwake: true })
})

test('an autoscaler is found behind more than a page of others', async () => {
  await create(deploymentOf('many', 0))
  const others = Array.from({ length: 120 }, (_, index) =>
    autoscalerOf(`m-${String(index).padStart(3, '0')}`, 'none', 1),
  )
  await create(...others, autoscalerOf('n-many', 'many', 0))
  expect(await orchestratorOf().wake({ namespace, name: 'many' })).toEqual({
    minReplicas: 1,
    alreadyAwake: false,
  })
  expect(await floorOf('n-many')).toBe('1')
})

test('a stale write is refused by the server, and done again on what is there now', async () => {
  await create(deploymentOf('stale', 0))
  // Another writer changes the Deployment between the read and the write, but only the first two times.
  const proxy = await startInterferingProxy(cluster, {
    times: 2,
    act: () =>
      cluster.kubectl(['-n', namespace, 'annotate', '--overwrite', 'deployment', 'stale', `at=${++number}`]),
  })
  const orchestrator = orchestratorOf(kubernetesTokens.admin, proxy.server)
  expect(await orchestrator.wake({ namespace, name: 'stale' })).toEqual({
    minReplicas: 1,
    alreadyAwake: false,
  })
  expect(proxy.patchStatuses).toEqual([409, 409, 200])
  await proxy.close()
})

test('replicas that somebody else raised between the read and the write stay as they are', async () => {
  await create(deploymentOf('raced', 0))
  const proxy = await startInterferingProxy(cluster, {
    times: 1,
    act: () => cluster.kubectl(['-n', namespace, 'scale', 'deployment', 'raced', '--replicas=4']),
  })
  const orchestrator = orchestratorOf(kubernetesTokens.admin, proxy.server)
  expect(await orchestrator.wake({ namespace, name: 'raced' })).toEqual({
    minReplicas: 4,
    alreadyAwake: true,
  })
  expect(proxy.patchStatuses).toEqual([409])
  expect(await replicasOf('raced')).toBe('4')
  await proxy.close()
})

test('who is always too late gives up, and says so', async () => {
  await create(deploymentOf('contended', 0))
  const proxy = await startInterferingProxy(cluster, {
    times: 100,
    act: () =>
      cluster.kubectl([
        '-n',
        namespace,
        'annotate',
        '--overwrite',
        'deployment',
        'contended',
        `at=${++number}`,
      ]),
  })
  const orchestrator = orchestratorOf(kubernetesTokens.admin, proxy.server)
  expect(await failureOf(orchestrator.wake({ namespace, name: 'contended' }))).toMatch(
    /conflicted with other changes to the workload|in time/,
  )
  expect(await replicasOf('contended')).toBe('0')
  await proxy.close()
})

test('an HorizontalPodAutoscaler too is not written over a change of somebody else', async () => {
  await create(deploymentOf('stale-floor', 1), autoscalerOf('stale-floor', 'stale-floor', 0))
  const proxy = await startInterferingProxy(cluster, {
    times: 1,
    act: () =>
      cluster.kubectl([
        '-n',
        namespace,
        'patch',
        'hpa',
        'stale-floor',
        '--type=merge',
        '-p',
        '{"spec":{"minReplicas":2}}',
      ]),
  })
  const orchestrator = orchestratorOf(kubernetesTokens.admin, proxy.server)
  expect(await orchestrator.wake({ namespace, name: 'stale-floor' })).toEqual({
    minReplicas: 2,
    alreadyAwake: true,
  })
  expect(proxy.patchStatuses).toEqual([409])
  expect(await floorOf('stale-floor')).toBe('2')
  await proxy.close()
})

test('without rights, with a wrong token and without a Deployment, the failure says what is wrong', async () => {
  await create(deploymentOf('guarded', 0))
  const workload = { namespace, name: 'guarded' }
  expect(await failureOf(orchestratorOf(kubernetesTokens.limited).wake(workload))).toBe(
    'cannot list the HorizontalPodAutoscalers of workloads: the role of the service account does not allow this request (403 Forbidden)',
  )
  expect(await failureOf(orchestratorOf('no-such-token').wake(workload))).toBe(
    'cannot list the HorizontalPodAutoscalers of workloads: the API server rejected the credentials of the service (401 Unauthorized)',
  )
  expect(await failureOf(orchestratorOf().wake({ namespace, name: 'none' }))).toBe(
    'cannot read the scale of the Deployment workloads/none: it does not exist',
  )
  expect(await failureOf(orchestratorOf().wake({ namespace: 'none', name: 'a/../b' }))).toContain(
    'none/a/../b: it does not exist',
  )
  expect(await replicasOf('guarded')).toBe('0')
})

test('a server whose certificate another authority signed is not told the token', async () => {
  const stranger = createCertificate('stranger', [])
  const orchestrator = orchestratorIn(accountOf(kubernetesTokens.admin, stranger.cert))
  expect(await failureOf(orchestrator.wake({ namespace, name: 'zero' }))).toContain(
    'has a certificate that the configured CA did not sign',
  )
})

test('the token of a service account is rotated while the service runs', async () => {
  await create(deploymentOf('rotated', 0))
  const account = async (): Promise<string> => {
    await cluster.kubectl(['-n', namespace, 'create', 'serviceaccount', 'manager'])
    return (await cluster.kubectl(['-n', namespace, 'create', 'token', 'manager'])).trim()
  }
  const bound = ['--role=waker', `--serviceaccount=${namespace}:manager`]
  await cluster.kubectl(['-n', namespace, 'create', 'rolebinding', 'account', ...bound])
  const folder = accountOf(await account())
  const orchestrator = orchestratorIn(folder)
  const outcome = () =>
    orchestrator.wake({ namespace, name: 'rotated' }).then(
      ({ minReplicas }) => minReplicas,
      (error: Error) => error.message,
    )
  await expect.poll(outcome).toBe(1)
  // Recreate the account: the old token becomes invalid as soon as the server notices.
  await cluster.kubectl(['-n', namespace, 'delete', 'serviceaccount', 'manager'])
  const token = await account()
  await expect.poll(outcome).toContain('rejected the credentials of the service (401 Unauthorized)')
  writeFileSync(path.join(folder, 'token'), token)
  expect(await outcome()).toBe(1)
  rmSync(path.join(folder, 'token'))
  expect(await outcome()).toBe(`Kubernetes access: ${folder}/token cannot be read (ENOENT)`)
})

test('an API server that is stopped fails a wake within 5 seconds, and one that is back does not', async () => {
  await create(deploymentOf('outage', 0))
  const orchestrator = orchestratorOf()
  const workload = { namespace, name: 'outage' }
  await orchestrator.wake({ namespace, name: 'three' })
  await cluster.stopServer()
  const started = performance.now()
  expect(await failureOf(orchestrator.wake(workload))).toBe(
    `cannot list the HorizontalPodAutoscalers of workloads: the API server at ${new URL(cluster.server).host} refuses connections`,
  )
  expect(performance.now() - started).toBeLessThan(5_000)
  await cluster.startServer()
  expect(await orchestrator.wake(workload)).toEqual({ minReplicas: 1, alreadyAwake: false })
})

test('an API server that hangs, or a port that says nothing, fails a wake after 5 seconds', async () => {
  const orchestrator = orchestratorOf()
  const workload = { namespace, name: 'three' }
  await orchestrator.wake(workload)
  cluster.signalServer('SIGSTOP')
  const started = performance.now()
  const hanging = await failureOf(orchestrator.wake(workload)).finally(() => cluster.signalServer('SIGCONT'))
  expect(hanging).toContain('did not respond in time')
  expect(performance.now() - started).toBeLessThan(5_000)
  await expect.poll(() => orchestrator.wake(workload).then(({ minReplicas }) => minReplicas, String)).toBe(3)

  const mute = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => mute.once('listening', resolve))
  const { port } = mute.address() as { port: number }
  const silent = orchestratorOf(kubernetesTokens.admin, `https://127.0.0.1:${port}`)
  const asked = performance.now()
  expect(await failureOf(silent.wake(workload))).toMatch(/did not respond in time|cannot be reached/)
  expect(performance.now() - asked).toBeLessThan(5_000)
  mute.close()
})
