// Wakes workloads on Kubernetes: raises `replicas` of a Deployment and `minReplicas` of its HorizontalPodAutoscaler to
// at least 1. Each write includes the resourceVersion that was read, so it never overwrites a concurrent change. After
// a conflict, the object is read again.
import { setTimeout as sleep } from 'node:timers/promises'
import type { KubernetesOptions } from './kubernetes-access.ts'
import { type KubernetesApi, type KubernetesRequest, createKubernetesApi } from './kubernetes-api.ts'
import { type Orchestrator, OrchestratorFailure, type WakeResult, type Workload } from './orchestrator.ts'

/** A wake must return within 5 s, even if the API server does not respond. */
const wakeTimeoutMs = 4_500
/** Maximum number of attempts if concurrent changes conflict. */
const maxAttempts = 8
const pageSize = 100
const maxPages = 10

/** A replica count and the resource version at which it was read. */
type ReplicaCount = { replicas: number; version: string }
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
  // Raises the autoscaler first: with a floor of 0 it would scale the Deployment down again.
  const autoscaler = await findAutoscaler(send, workload)
  const floor =
    autoscaler === null
      ? null
      : await raiseToOne(() => readAutoscaler(send, autoscaler), writeAutoscaler(send, autoscaler))
  const scale = await raiseToOne(() => readScale(send, workload), writeScale(send, workload))
  return {
    minReplicas: floor?.replicas ?? scale.replicas,
    alreadyAwake: !scale.isRaised && floor?.isRaised !== true,
  }
}

/** Raises 0 to 1 and retries after conflicting writes. `isRaised` is true if the value was written. */
async function raiseToOne(
  read: () => Promise<ReplicaCount>,
  write: (version: string) => Promise<boolean>,
): Promise<{ replicas: number; isRaised: boolean }> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const { replicas, version } = await read()
    if (replicas >= 1) return { replicas, isRaised: false }
    if (await write(version)) return { replicas: 1, isRaised: true }
    // The random delay keeps conflicting writers from colliding again.
    await sleep(Math.random() * Math.min(200, 20 * 2 ** attempt))
  }
  throw new OrchestratorFailure(
    `${maxAttempts} attempts conflicted with other changes to the workload; try again`,
  )
}

const encodeSegment = encodeURIComponent
const formatWorkload = ({ namespace, name }: Workload): string => `${namespace}/${name}`

const getScalePath = ({ namespace, name }: Workload): string =>
  `/apis/apps/v1/namespaces/${encodeSegment(namespace)}/deployments/${encodeSegment(name)}/scale`

async function readScale(send: Send, workload: Workload): Promise<ReplicaCount> {
  const purpose = `read the scale of the Deployment ${formatWorkload(workload)}`
  const response = await send({ method: 'GET', path: getScalePath(workload), purpose })
  if (response.status !== 200) throw new OrchestratorFailure(`cannot ${purpose}: it does not exist`)
  // The server omits the field if it is 0.
  return parseReplicaCount(response.body, 'replicas', 0, purpose)
}

const writeScale =
  (send: Send, workload: Workload) =>
  (version: string): Promise<boolean> =>
    patchResource(send, {
      path: getScalePath(workload),
      purpose: `raise the scale of the Deployment ${formatWorkload(workload)}`,
      patch: { metadata: { resourceVersion: version }, spec: { replicas: 1 } },
    })

/** The autoscaler of a workload and its API path. */
type Autoscaler = Workload & { path: string }

// v2 is the native version since Kubernetes 1.23. v1 exists in every release and loses no fields.
const autoscalingVersions = ['v2', 'v1']

async function findAutoscaler(send: Send, workload: Workload): Promise<Autoscaler | null> {
  const purpose = `list the HorizontalPodAutoscalers of ${workload.namespace}`
  for (const version of autoscalingVersions) {
    const collection = `/apis/autoscaling/${version}/namespaces/${encodeSegment(workload.namespace)}/horizontalpodautoscalers`
    let continueToken = ''
    for (let page = 0; page < maxPages; page++) {
      const path = `${collection}?limit=${pageSize}${continueToken === '' ? '' : `&continue=${encodeSegment(continueToken)}`}`
      const response = await send({ method: 'GET', path, purpose })
      // For a missing namespace, the list is empty. A 404 therefore means that the server does not serve this API
      // version.
      if (response.status === 404) break
      if (response.status !== 200)
        throw new OrchestratorFailure(`cannot ${purpose}: the API server returned ${response.status}`)
      const { items = [], metadata } = response.body as {
        items?: ListedAutoscaler[]
        metadata?: { continue?: string }
      }
      const name = items.find((item) => targetsWorkload(item, workload))?.metadata?.name
      if (name !== undefined)
        return { namespace: workload.namespace, name, path: `${collection}/${encodeSegment(name)}` }
      continueToken = metadata?.continue ?? ''
      if (continueToken === '') return null
    }
    if (continueToken !== '')
      throw new OrchestratorFailure(`cannot ${purpose}: there are more than ${pageSize * maxPages}`)
  }
  throw new OrchestratorFailure(
    `cannot ${purpose}: the API server serves neither autoscaling/v2 nor autoscaling/v1`,
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

async function readAutoscaler(send: Send, autoscaler: Autoscaler): Promise<ReplicaCount> {
  const purpose = `read the HorizontalPodAutoscaler ${formatWorkload(autoscaler)}`
  const response = await send({ method: 'GET', path: autoscaler.path, purpose })
  if (response.status !== 200)
    throw new OrchestratorFailure(`cannot ${purpose}: it was deleted concurrently; try again`)
  return parseReplicaCount(response.body, 'minReplicas', 1, purpose)
}

const writeAutoscaler =
  (send: Send, autoscaler: Autoscaler) =>
  (version: string): Promise<boolean> =>
    patchResource(send, {
      path: autoscaler.path,
      purpose: `raise minReplicas of the HorizontalPodAutoscaler ${formatWorkload(autoscaler)}`,
      patch: { metadata: { resourceVersion: version }, spec: { minReplicas: 1 } },
    })

/** Returns false if a concurrent write came first. */
async function patchResource(
  send: Send,
  request: { path: string; purpose: string; patch: unknown },
): Promise<boolean> {
  const response = await send({ method: 'PATCH', ...request })
  if (response.status === 404)
    throw new OrchestratorFailure(`cannot ${request.purpose}: it was deleted concurrently`)
  return response.status === 200
}

function parseReplicaCount(
  body: unknown,
  field: 'replicas' | 'minReplicas',
  defaultReplicas: number,
  purpose: string,
): ReplicaCount {
  const { spec, metadata } = (body ?? {}) as {
    spec?: Record<string, unknown>
    metadata?: { resourceVersion?: unknown }
  }
  const replicas = spec?.[field] ?? defaultReplicas
  const version = metadata?.resourceVersion
  if (typeof replicas !== 'number' || typeof version !== 'string')
    throw new OrchestratorFailure(`cannot ${purpose}: the API server returned an unexpected response`)
  return { replicas, version }
}
