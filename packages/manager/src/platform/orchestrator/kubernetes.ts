// Wakes workloads on Kubernetes: a Deployment's replicas and the floor of its HorizontalPodAutoscaler are raised to at least
// 1. Whoever writes names the version that was read, so that a change of somebody else is never undone: it is read again.
import { setTimeout as sleep } from 'node:timers/promises'
import type { KubernetesOptions } from './kubernetes-access.ts'
import { type KubernetesApi, type KubernetesRequest, createKubernetesApi } from './kubernetes-api.ts'
import { type Orchestrator, OrchestratorFailure, type Raised, type Workload } from './orchestrator.ts'

/** A wake is answered within 5 seconds, whatever the API server does. */
const wakeTimeoutMs = 4_500
/** Times that a change of somebody else came first. */
const maxTries = 8
const pageSize = 100
const maxPages = 10

/** A floor as it was read. */
type Floor = { replicas: number; version: string }
type Asking = (request: Omit<KubernetesRequest, 'signal'>) => ReturnType<KubernetesApi['ask']>

/** Throws OrchestratorFailure at once if its credentials cannot be read. */
export function createKubernetesOrchestrator(options: KubernetesOptions): Orchestrator {
  const api = createKubernetesApi(options)
  return {
    kind: 'kubernetes',
    wake: (workload) => {
      const signal = AbortSignal.timeout(wakeTimeoutMs)
      return wake((request) => api.ask({ ...request, signal }), workload)
    },
    close: () => api.close(),
  }
}

async function wake(ask: Asking, workload: Workload): Promise<Raised> {
  // The autoscaler first: with a floor of 0 it would take back what is raised below it.
  const autoscaler = await findAutoscaler(ask, workload)
  const floor =
    autoscaler === null
      ? null
      : await raise(() => readAutoscaler(ask, autoscaler), writeAutoscaler(ask, autoscaler))
  const scale = await raise(() => readScale(ask, workload), writeScale(ask, workload))
  return {
    minReplicas: floor?.replicas ?? scale.replicas,
    alreadyAwake: !scale.isRaised && floor?.isRaised !== true,
  }
}

/** Reads, and writes 1 in place of 0, until nobody else came between; true if it was written. */
async function raise(
  read: () => Promise<Floor>,
  write: (version: string) => Promise<boolean>,
): Promise<{ replicas: number; isRaised: boolean }> {
  for (let tries = 0; tries < maxTries; tries++) {
    const { replicas, version } = await read()
    if (replicas >= 1) return { replicas, isRaised: false }
    if (await write(version)) return { replicas: 1, isRaised: true }
    // Those who met do not meet again at once.
    await sleep(Math.random() * Math.min(200, 20 * 2 ** tries))
  }
  throw new OrchestratorFailure(
    `others changed the workload ${maxTries} times while it was raised; try again`,
  )
}

const segment = encodeURIComponent
const labelOf = ({ namespace, name }: Workload): string => `${namespace}/${name}`

const scalePath = ({ namespace, name }: Workload): string =>
  `/apis/apps/v1/namespaces/${segment(namespace)}/deployments/${segment(name)}/scale`

async function readScale(ask: Asking, workload: Workload): Promise<Floor> {
  const what = `read the scale of the Deployment ${labelOf(workload)}`
  const answer = await ask({ method: 'GET', path: scalePath(workload), what })
  if (answer.status !== 200) throw new OrchestratorFailure(`cannot ${what}: it does not exist`)
  // A number that is 0 is left out by the server.
  return floorOf(answer.body, 'replicas', 0, what)
}

const writeScale =
  (ask: Asking, workload: Workload) =>
  (version: string): Promise<boolean> =>
    write(ask, {
      path: scalePath(workload),
      what: `raise the scale of the Deployment ${labelOf(workload)}`,
      patch: { metadata: { resourceVersion: version }, spec: { replicas: 1 } },
    })

/** Where the autoscaler of a workload is. */
type Autoscaler = Workload & { path: string }

// The second is there in every release, and loses nothing; the first is what the objects are made of since 1.23.
const autoscalingVersions = ['v2', 'v1']

async function findAutoscaler(ask: Asking, workload: Workload): Promise<Autoscaler | null> {
  const what = `list the HorizontalPodAutoscalers of ${workload.namespace}`
  for (const version of autoscalingVersions) {
    const collection = `/apis/autoscaling/${version}/namespaces/${segment(workload.namespace)}/horizontalpodautoscalers`
    let next = ''
    for (let page = 0; page < maxPages; page++) {
      const path = `${collection}?limit=${pageSize}${next === '' ? '' : `&continue=${segment(next)}`}`
      const answer = await ask({ method: 'GET', path, what })
      // The list of a namespace is there, empty, even if the namespace is not: this version is not served.
      if (answer.status === 404) break
      if (answer.status !== 200)
        throw new OrchestratorFailure(`cannot ${what}: the API server answered ${answer.status}`)
      const { items = [], metadata } = answer.body as { items?: Listed[]; metadata?: { continue?: string } }
      const name = items.find((item) => targets(item, workload))?.metadata?.name
      if (name !== undefined)
        return { namespace: workload.namespace, name, path: `${collection}/${segment(name)}` }
      next = metadata?.continue ?? ''
      if (next === '') return null
    }
    if (next !== '')
      throw new OrchestratorFailure(`cannot ${what}: there are more than ${pageSize * maxPages}`)
  }
  throw new OrchestratorFailure(
    `cannot ${what}: the API server has neither autoscaling/v2 nor autoscaling/v1`,
  )
}

type Listed = {
  metadata?: { name?: string }
  spec?: { scaleTargetRef?: { apiVersion?: string; kind?: string; name?: string } }
}

function targets({ spec }: Listed, { name }: Workload): boolean {
  const target = spec?.scaleTargetRef
  const isOfApps = target?.apiVersion === undefined || target.apiVersion.startsWith('apps/')
  return target?.kind === 'Deployment' && target.name === name && isOfApps
}

async function readAutoscaler(ask: Asking, autoscaler: Autoscaler): Promise<Floor> {
  const what = `read the HorizontalPodAutoscaler ${labelOf(autoscaler)}`
  const answer = await ask({ method: 'GET', path: autoscaler.path, what })
  if (answer.status !== 200)
    throw new OrchestratorFailure(`cannot ${what}: it was deleted meanwhile; try again`)
  return floorOf(answer.body, 'minReplicas', 1, what)
}

const writeAutoscaler =
  (ask: Asking, autoscaler: Autoscaler) =>
  (version: string): Promise<boolean> =>
    write(ask, {
      path: autoscaler.path,
      what: `raise the floor of the HorizontalPodAutoscaler ${labelOf(autoscaler)}`,
      patch: { metadata: { resourceVersion: version }, spec: { minReplicas: 1 } },
    })

/** False if somebody else came first. */
async function write(ask: Asking, request: { path: string; what: string; patch: unknown }): Promise<boolean> {
  const answer = await ask({ method: 'PATCH', ...request })
  if (answer.status === 404) throw new OrchestratorFailure(`cannot ${request.what}: it was deleted meanwhile`)
  return answer.status === 200
}

function floorOf(body: unknown, field: 'replicas' | 'minReplicas', absent: number, what: string): Floor {
  const { spec, metadata } = (body ?? {}) as {
    spec?: Record<string, unknown>
    metadata?: { resourceVersion?: unknown }
  }
  const replicas = spec?.[field] ?? absent
  const version = metadata?.resourceVersion
  if (typeof replicas !== 'number' || typeof version !== 'string')
    throw new OrchestratorFailure(`cannot ${what}: the answer of the API server is not understood`)
  return { replicas, version }
}
