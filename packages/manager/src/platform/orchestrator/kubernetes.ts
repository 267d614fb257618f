// Wakes workloads on Kubernetes: raises the replicas of a Deployment and the floor of its HorizontalPodAutoscaler to at
// least 1. Each write names the version that was read, so it never overwrites a concurrent change. After a conflict,
// the version is read again.
import { setTimeout as sleep } from 'node:timers/promises'
import type { KubernetesOptions } from './kubernetes-access.ts'
import { type KubernetesApi, type KubernetesRequest, createKubernetesApi } from './kubernetes-api.ts'
import { type Orchestrator, OrchestratorFailure, type WakeResult, type Workload } from './orchestrator.ts'

/** A wake must return within 5 s, even if the API server does not respond. */
const wakeTimeoutMs = 4_500
/** Maximum number of attempts if concurrent changes conflict. */
const maxTries = 8
const pageSize = 100
const maxPages = 10

/** A replica count and the resource version at which it was read. */
type Floor = { replicas: number; version: string }
type Send = (request: Omit<KubernetesRequest, 'signal'>) => ReturnType<KubernetesApi['send']>

/** Throws OrchestratorFailure if the credentials cannot be read. */
export function createKubernetesOrchestrator(options: KubernetesOptions): Orchestrator {
  const api = createKubernetesApi(options)
  return {
    kind: 'kubernetes',
    wake: (workload) => {
      const signal = AbortSignal.timeout(wakeTimeoutMs)
      return wake((request) => api.send({ ...request, signal }), workload)
    },
    close: () => api.close(),
  }
}

async function wake(send: Send, workload: Workload): Promise<WakeResult> {
  // Raise the autoscaler first: with a floor of 0 it would scale the Deployment down again.
  const autoscaler = await findAutoscaler(send, workload)
  const floor =
    autoscaler === null
      ? null
      : await raise(() => readAutoscaler(send, autoscaler), writeAutoscaler(send, autoscaler))
  const scale = await raise(() => readScale(send, workload), writeScale(send, workload))
  return {
    minReplicas: floor?.replicas ?? scale.replicas,
    alreadyAwake: !scale.isRaised && floor?.isRaised !== true,
  }
}

/** Raises 0 to 1 and retries after conflicting writes. `isRaised` is true if it wrote. */
async function raise(
  read: () => Promise<Floor>,
  write: (version: string) => Promise<boolean>,
): Promise<{ replicas: number; isRaised: boolean }> {
  for (let tries = 0; tries < maxTries; tries++) {
    const { replicas, version } = await read()
    if (replicas >= 1) return { replicas, isRaised: false }
    if (await write(version)) return { replicas: 1, isRaised: true }
    // The random delay keeps conflicting writers from colliding again.
    await sleep(Math.random() * Math.min(200, 20 * 2 ** tries))
  }
  throw new OrchestratorFailure(
    `${maxTries} attempts conflicted with other changes to the workload; try again`,
  )
}

const segment = encodeURIComponent
const labelOf = ({ namespace, name }: Workload): string => `${namespace}/${name}`

const scalePath = ({ namespace, name }: Workload): string =>
  `/apis/apps/v1/namespaces/${segment(namespace)}/deployments/${segment(name)}/scale`

async function readScale(send: Send, workload: Workload): Promise<Floor> {
  const what = `read the scale of the Deployment ${labelOf(workload)}`
  const response = await send({ method: 'GET', path: scalePath(workload), what })
  if (response.status !== 200) throw new OrchestratorFailure(`cannot ${what}: it does not exist`)
  // The server omits the field if it is 0.
  return floorOf(response.body, 'replicas', 0, what)
}

const writeScale =
  (send: Send, workload: Workload) =>
  (version: string): Promise<boolean> =>
    write(send, {
      path: scalePath(workload),
      what: `raise the scale of the Deployment ${labelOf(workload)}`,
      patch: { metadata: { resourceVersion: version }, spec: { replicas: 1 } },
    })

/** The autoscaler of a workload and its API path. */
type Autoscaler = Workload & { path: string }

// v2 is the native version since Kubernetes 1.23. v1 exists in every release and loses no fields.
const autoscalingVersions = ['v2', 'v1']

async function findAutoscaler(send: Send, workload: Workload): Promise<Autoscaler | null> {
  const what = `list the HorizontalPodAutoscalers of ${workload.namespace}`
  for (const version of autoscalingVersions) {
    const collection = `/apis/autoscaling/${version}/namespaces/${segment(workload.namespace)}/horizontalpodautoscalers`
    let next = ''
    for (let page = 0; page < maxPages; page++) {
      const path = `${collection}?limit=${pageSize}${next === '' ? '' : `&continue=${segment(next)}`}`
      const response = await send({ method: 'GET', path, what })
      // The list of a missing namespace is empty, so 404 means that the server does not serve this API version.
      if (response.status === 404) break
      if (response.status !== 200)
        throw new OrchestratorFailure(`cannot ${what}: the API server returned ${response.status}`)
      const { items = [], metadata } = response.body as {
        items?: ListedAutoscaler[]
        metadata?: { continue?: string }
      }
      const name = items.find((item) => targetsWorkload(item, workload))?.metadata?.name
      if (name !== undefined)
        return { namespace: workload.namespace, name, path: `${collection}/${segment(name)}` }
      next = metadata?.continue ?? ''
      if (next === '') return null
    }
    if (next !== '')
      throw new OrchestratorFailure(`cannot ${what}: there are more than ${pageSize * maxPages}`)
  }
  throw new OrchestratorFailure(
    `cannot ${what}: the API server serves neither autoscaling/v2 nor autoscaling/v1`,
  )
}

type ListedAutoscaler = {
  metadata?: { name?: string }
  spec?: { scaleTargetRef?: { apiVersion?: string; kind?: string; name?: string } }
}

function targetsWorkload({ spec }: ListedAutoscaler, { name }: Workload): boolean {
  const target = spec?.scaleTargetRef
  const isAppsApi = target?.apiVersion === undefined || target.apiVersion.startsWith('apps/')
  return target?.kind === 'Deployment' && target.name === name && isAppsApi
}

async function readAutoscaler(send: Send, autoscaler: Autoscaler): Promise<Floor> {
  const what = `read the HorizontalPodAutoscaler ${labelOf(autoscaler)}`
  const response = await send({ method: 'GET', path: autoscaler.path, what })
  if (response.status !== 200)
    throw new OrchestratorFailure(`cannot ${what}: it was deleted concurrently; try again`)
  return floorOf(response.body, 'minReplicas', 1, what)
}

const writeAutoscaler =
  (send: Send, autoscaler: Autoscaler) =>
  (version: string): Promise<boolean> =>
    write(send, {
      path: autoscaler.path,
      what: `raise minReplicas of the HorizontalPodAutoscaler ${labelOf(autoscaler)}`,
      patch: { metadata: { resourceVersion: version }, spec: { minReplicas: 1 } },
    })

/** Returns false if a concurrent write came first. */
async function write(send: Send, request: { path: string; what: string; patch: unknown }): Promise<boolean> {
  const response = await send({ method: 'PATCH', ...request })
  if (response.status === 404)
    throw new OrchestratorFailure(`cannot ${request.what}: it was deleted concurrently`)
  return response.status === 200
}

function floorOf(body: unknown, field: 'replicas' | 'minReplicas', absent: number, what: string): Floor {
  const { spec, metadata } = (body ?? {}) as {
    spec?: Record<string, unknown>
    metadata?: { resourceVersion?: unknown }
  }
  const replicas = spec?.[field] ?? absent
  const version = metadata?.resourceVersion
  if (typeof replicas !== 'number' || typeof version !== 'string')
    throw new OrchestratorFailure(`cannot ${what}: the API server returned an unexpected response`)
  return { replicas, version }
}
