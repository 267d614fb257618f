// Seeds deployment specifications with SQL, creates an orchestrator that counts its calls, and sends the proxy's
// requests.
import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import {
  type Orchestrator,
  OrchestratorFailure,
  type WakeResult,
  type Workload,
} from '../../src/platform/orchestrator/orchestrator.ts'
import type { Person } from '@manager/harness/callers.ts'
import type { TestApp } from './app.ts'
import { type JsonAnswer, call, throughProxy } from '@manager/harness/credentials.ts'
import { rawCall } from './http.ts'
import { type Input, rowCalls } from './row-calls.ts'

type Owner = { id: string; applicationId: string }

/**
 * Seeds a specification for one environment, by default dev, and returns its id. An existing specification is reset.
 */
export async function seedSpecification(
  sql: Pool,
  { id: projectId, applicationId }: Owner,
  { environment = 'dev', scaleToZero = false, workload = 'shop/web' } = {},
): Promise<string> {
  const { rows } = await sql.query<{ id: string }>(
    `insert into deployment_specifications (id, project_id, application_id, environment_id, workload, image, version,
       min_replicas, max_replicas, port, health_path, readiness_timeout_seconds, scale_to_zero)
     select $1, $2, $3, e.id, $5, 'registry.example/web:1', '1', 1, 3, 8080, '/health', 60, $6
     from environments e where e.project_id = $2 and e.name = $4
     on conflict on constraint deployment_specifications_deployment_key do update set workload = excluded.workload,
       image = excluded.image, version = excluded.version, min_replicas = 1, max_replicas = 3, port = 8080,
       health_path = '/health', readiness_timeout_seconds = 60, scale_to_zero = excluded.scale_to_zero
     returning id`,
    [randomUUID(), projectId, applicationId, environment, workload, scaleToZero],
  )
  return (rows[0] as { id: string }).id
}

/** The error of an orchestrator that rejects a wake. */
export const createOrchestratorFailure = (reason: string): Error => new OrchestratorFailure(reason)

type FakeOrchestrator = Orchestrator & { calls: Workload[]; floors: Map<string, number> }

/**
 * Returns an orchestrator that stores the minimum replicas in memory. `before` runs on every wake and can make it fail.
 */
export function createFakeOrchestrator(before: (calls: number) => Promise<void> | void = () => undefined) {
  const [calls, floors]: [Workload[], Map<string, number>] = [[], new Map()]
  const fake: FakeOrchestrator = {
    kind: 'kubernetes',
    calls,
    floors,
    wake: async (workload): Promise<WakeResult> => {
      calls.push(workload)
      await before(calls.length)
      const key = `${workload.namespace}/${workload.name}`
      const floor = floors.get(key) ?? 0
      floors.set(key, Math.max(1, floor))
      return { minReplicas: Math.max(1, floor), alreadyAwake: floor > 0 }
    },
    close: () => Promise.resolve(),
  }
  return fake
}

const targetQuery = (target: object): string => `?${new URLSearchParams(target as Record<string, string>)}`

/** Returns functions that send the proxy's requests about one deployment. */
export const proxyCalls = (url: () => string) => ({
  wake: (target: object): Promise<JsonAnswer> => call(url(), '/api/proxy/wake', throughProxy(), target),
  wakeByQuery: async (target: object): Promise<JsonAnswer> => {
    const init = { method: 'POST', headers: throughProxy() }
    const response = await fetch(`${url()}/api/proxy/wake${targetQuery(target)}`, init)
    return { status: response.status, body: await response.json(), headers: response.headers }
  },
  ask: (route: 'ready' | 'deployment', target: object): Promise<JsonAnswer> =>
    call(url(), `/api/proxy/${route}${targetQuery(target)}`, throughProxy()),
  /** Sends a GET with a body, which fetch cannot send. */
  askByBody: async (route: 'ready' | 'deployment', body: string, type = 'application/json') => {
    const headers = Object.entries({ ...throughProxy(), 'content-type': type })
    const answer = await rawCall(url(), { path: `/api/proxy/${route}`, headers, body })
    return { status: answer.status, body: JSON.parse(answer.body) as Input }
  },
})

const specificationFields = `id workload image version minReplicas maxReplicas port healthPath
  readinessTimeoutSeconds scaleToZero createdAt updatedAt application { id } environment { id name }`

/** Returns operations on specifications. The result of each is aliased to `row` or `rows`. */
export function specificationCalls(service: () => Pick<TestApp, 'query' | 'sql'>) {
  const { query, ...changes } = rowCalls(service, 'DeploymentSpecification', specificationFields)
  return {
    ...changes,
    list: (caller: Person, application: string) =>
      query(
        caller,
        `query($application: ID!) { rows: deploymentSpecifications(application: $application) { ${specificationFields} } }`,
        { application },
      ),
    /** Returns the audit rows of a specification, oldest first. */
    auditOf: async (id: string): Promise<{ action: string; changes: Input; principal_id: string }[]> => {
      const { rows } = await service().sql.query<{ action: string; changes: Input; principal_id: string }>(
        'select action, changes, principal_id from audit_logs where entity_id = $1 order by seq',
        [id],
      )
      return rows
    },
  }
}
