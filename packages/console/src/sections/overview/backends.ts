// Registered and live backends by application and environment.
import type { UseQueryResult } from '@tanstack/react-query'
import { useRead, useReads } from '../../api/requests.ts'
import { useEnvironment } from '../../app/environment.tsx'
import { type CurrentEnvironment, useCan, useProject } from '../../app/project.tsx'
import {
  type OverviewBackendsResult,
  overviewApplicationsDocument,
  overviewBackendsDocument,
} from '../../generated/documents.ts'

export type BackendCell = {
  readonly environment: CurrentEnvironment
  readonly live: number
  readonly total: number
  /** The workload is asleep: it is scaled to zero and has no live backend. */
  readonly isAsleep: boolean
}
export type BackendRow = {
  readonly id: string
  readonly name: string
  /** Null while the request runs. */
  readonly cells: readonly BackendCell[] | null
  readonly oldestHeartbeat: string | null
}
export type Backends = {
  readonly environments: readonly CurrentEnvironment[]
  readonly rows: readonly BackendRow[] | null
  /** Number of the project's applications that the overview does not read. */
  readonly hidden: number
  readonly error: Error | null
  readonly retry: () => void
}

const pollMs = 60_000

export function useApplications(): UseQueryResult<{
  readonly applicationsConnection: {
    readonly nodes: readonly { readonly id: string; readonly name: string }[]
    readonly totalCount: number
  }
}> {
  const { slug } = useProject()
  return useRead(overviewApplicationsDocument, { project: slug })
}

/** Reads the backends of the first applications, with one request per application. */
export function useBackends(): Backends {
  const { environments: all } = useProject()
  const chosen = useEnvironment()
  const canRead = useCan('BACKEND_READ')
  const applications = useApplications()
  const list = applications.data?.applicationsConnection
  const nodes = canRead ? (list?.nodes ?? []) : []
  const reads = useReads(
    overviewBackendsDocument,
    nodes.map(({ id }) => ({ applicationId: id })),
    { refetchMs: pollMs },
  )
  const environments = chosen === null ? all : [chosen]
  return {
    environments,
    rows:
      list === undefined
        ? null
        : nodes.map(({ id, name }, index) => createRow({ id, name }, reads[index]?.data, environments)),
    hidden: list === undefined ? 0 : list.totalCount - list.nodes.length,
    error: applications.error ?? reads.find(({ error }) => error !== null)?.error ?? null,
    retry: () => void Promise.all([applications.refetch(), ...reads.map(async (read) => read.refetch())]),
  }
}

function createRow(
  application: { id: string; name: string },
  data: OverviewBackendsResult | undefined,
  environments: readonly CurrentEnvironment[],
): BackendRow {
  if (data === undefined) return { ...application, cells: null, oldestHeartbeat: null }
  const shown = new Set(environments.map(({ id }) => id))
  const heartbeats = data.backends
    .filter(({ environment }) => shown.has(environment.id))
    .map(({ lastHeartbeat }) => lastHeartbeat)
  return {
    ...application,
    cells: environments.map((environment) => {
      const backends = data.backends.filter((backend) => backend.environment.id === environment.id)
      const live = backends.filter(({ isLive }) => isLive).length
      const canSleep = data.deploymentSpecifications.some(
        (specification) => specification.scaleToZero && specification.environment.id === environment.id,
      )
      return { environment, live, total: backends.length, isAsleep: live === 0 && canSleep }
    }),
    oldestHeartbeat: heartbeats.toSorted()[0] ?? null,
  }
}
