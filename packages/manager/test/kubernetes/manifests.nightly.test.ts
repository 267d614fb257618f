// Applies every manifest in deploy/kubernetes to a real API server. The service wakes deployments with only the
// permissions that the manifests grant.
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { parseAllDocuments } from 'yaml'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createKubernetesOrchestrator } from '../../src/platform/orchestrator/kubernetes.ts'
import { type Kubernetes, startKubernetes } from '@manager/harness/engines/kubernetes.ts'
import { manifests, root } from '../kit/deploy.ts'

let cluster: Kubernetes
beforeAll(async () => {
  cluster = await startKubernetes()
  await cluster.kubectl(['create', 'namespace', 'workloads'])
  await cluster.kubectl(['apply', '-f', `${root}deploy/kubernetes/base/namespace.yaml`])
})
afterAll(() => cluster.stop())

type Built = { apiVersion: string; kind: string; metadata: { name: string; namespace?: string } }

/** Returns the objects that kustomize builds from a folder. */
function built(folder: string): Built[] {
  const text = execFileSync('kubectl', ['kustomize', `${root}deploy/kubernetes/${folder}`], {
    encoding: 'utf8',
  })
  return parseAllDocuments(text).map((document) => document.toJS() as Built)
}

/**
 * Adapts an object to this server, which predates policy/v1. The fields that the manifests use are the same in
 * policy/v1beta1. All other objects are sent unmodified.
 */
const forThisServer = (object: Built): Built =>
  object.apiVersion === 'policy/v1' ? { ...object, apiVersion: 'policy/v1beta1' } : object

const apply = (items: Built[]): Promise<string> =>
  cluster.kubectl(
    // Treat unknown fields as errors.
    ['apply', '--validate=strict', '-f', '-'],
    JSON.stringify({ apiVersion: 'v1', kind: 'List', items: items.map(forThisServer) }),
  )

const folders = ['migrate', 'overlays/small', 'overlays/production', 'workloads', 'exchange-master']

test.each(folders)('the API server accepts everything of %s', async (folder) => {
  const objects = built(folder)
  const said = await apply(objects)
  expect(said.trim().split('\n')).toHaveLength(objects.length)
  for (const { kind, metadata } of objects.filter(({ kind }) => kind !== 'Namespace'))
    expect(metadata.namespace, `${kind} ${metadata.name}`).toBe(
      folder === 'workloads' ? 'workloads' : 'manager',
    )
})

test('nothing of deploy/kubernetes was left out', () => {
  const sent = new Set(
    folders.flatMap((folder) => built(folder).map(({ kind, metadata }) => `${kind} ${metadata.name}`)),
  )
  const written = manifests().filter(({ kind }) => kind !== 'Kustomization' && kind !== 'Component')
  expect(written.length).toBeGreaterThan(25)
  expect(
    written.map(({ kind, metadata }) => `${kind} ${metadata.name}`).filter((name) => !sent.has(name)),
  ).toEqual([])
})

test('what the server does not know is refused', async () => {
  const deployment = built('overlays/small').find(({ kind }) => kind === 'Deployment')
  const broken = JSON.parse(
    JSON.stringify(deployment).replace('"readOnlyRootFilesystem"', '"readOnlyRoot"'),
  ) as Built
  await expect(apply([broken])).rejects.toThrow(/readOnlyRoot/)
  const wrong = JSON.parse(JSON.stringify(deployment).replace('"RuntimeDefault"', '"Anything"')) as Built
  await expect(apply([wrong])).rejects.toThrow(/seccompProfile/)
})

test('the controllers make pods of every role', async () => {
  const components = async (): Promise<string[]> => {
    const label = '.metadata.labels.app\\.kubernetes\\.io/component'
    const text = await cluster.kubectl(['-n', 'manager', 'get', 'pods', '-o', `jsonpath={.items[*]${label}}`])
    return [...new Set(text.split(' '))].toSorted()
  }
  await expect.poll(components).toEqual(['api', 'comms', 'exchange-master', 'gateway', 'jobs', 'migrate'])
})

test('in the overlay for production the role api alone wakes deployments, with a token', () => {
  type WithPod = Built & {
    spec: {
      template: { spec: { automountServiceAccountToken: boolean; containers: { env: { name: string }[] }[] } }
    }
  }
  const deployments = built('overlays/production').filter(({ kind }) => kind === 'Deployment') as WithPod[]
  const waking = deployments.filter(({ spec }) => spec.template.spec.automountServiceAccountToken)
  expect(waking.map(({ metadata }) => metadata.name)).toEqual(['manager-api'])
  const names = waking[0]?.spec.template.spec.containers[0]?.env.map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(['SVC_ORCHESTRATOR_KIND', 'SVC_ROLES', 'SVC_MASTER_KEY_FILE']))
})

test('the service account may wake in that namespace, and do nothing else', async () => {
  const can = (namespace: string, verb: string, resource: string): Promise<string> =>
    cluster
      .kubectl([
        'auth',
        'can-i',
        '-n',
        namespace,
        '--as=system:serviceaccount:manager:manager',
        verb,
        ...resource.split(' '),
      ])
      .then((said) => said.trim())
      .catch((error: Error) => (error.message.trim().endsWith(':') ? 'no' : error.message))
  const scale = 'deployments.apps --subresource=scale'
  const autoscaler = 'horizontalpodautoscalers.autoscaling'
  for (const [verb, resource] of [
    ['get', scale],
    ['patch', scale],
    ['get', autoscaler],
    ['list', autoscaler],
    ['patch', autoscaler],
  ] as const)
    expect([verb, resource, await can('workloads', verb, resource)]).toEqual([verb, resource, 'yes'])
  for (const [verb, resource] of [
    ['update', scale],
    ['patch', 'deployments.apps'],
    ['delete', autoscaler],
    ['get', 'secrets'],
    ['list', 'pods'],
  ] as const)
    expect([verb, resource, await can('workloads', verb, resource)]).toEqual([verb, resource, 'no'])
  expect(await can('manager', 'patch', scale)).toBe('no')
})

test('with these rights alone a deployment is woken, and in another namespace it is not', async () => {
  for (const namespace of ['workloads', 'default'])
    await cluster.kubectl(['-n', namespace, 'create', 'deployment', 'orders', '--image=none', '--replicas=0'])
  await cluster.kubectl(['-n', 'workloads', 'autoscale', 'deployment', 'orders', '--min=2', '--max=4'])
  const folder = path.join(cluster.folder, 'account')
  mkdirSync(folder)
  writeFileSync(path.join(folder, 'ca.crt'), cluster.authority.cert)
  writeFileSync(
    path.join(folder, 'token'),
    await cluster.kubectl(['-n', 'manager', 'create', 'token', 'manager']),
  )
  const orchestrator = createKubernetesOrchestrator({
    server: cluster.server,
    serviceAccountFolder: folder,
  })
  expect(await orchestrator.wake({ namespace: 'workloads', name: 'orders' })).toEqual({
    minReplicas: 2,
    alreadyAwake: false,
  })
  await expect(orchestrator.wake({ namespace: 'default', name: 'orders' })).rejects.toThrow('403 Forbidden')
  expect(
    await cluster.kubectl([
      '-n',
      'default',
      'get',
      'deployment',
      'orders',
      '-o',
      'jsonpath={.spec.replicas}',
    ]),
  ).toBe('0')
  await orchestrator.close()
})
