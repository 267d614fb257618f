// The rows of the list: one for each application and environment. The API pages through applications only, so a page of
// rows is computed from the applications that it covers.
import type { CurrentEnvironment } from '../../app/project.tsx'

export type ListedApplication = { readonly id: string; readonly name: string; readonly slug: string }

export type RowSpecification = {
  readonly workload: string
  readonly version: string
  readonly minReplicas: number
  readonly maxReplicas: number
  readonly scaleToZero: boolean
}

export type RowBackends = {
  readonly nodes: readonly {
    readonly version: string
    readonly lastHeartbeat: string
    readonly isLive: boolean
  }[]
  readonly totalCount: number
  readonly isTotalExact: boolean
}

/** The values of a row, which arrive after the names. */
export type RowValues = {
  /** Null if the deployment has no specification. */
  readonly specification: RowSpecification | null
  readonly backends: RowBackends
}

export type DeploymentRow = {
  readonly id: string
  readonly application: ListedApplication
  readonly environment: CurrentEnvironment
  /** Undefined until the values have been read. */
  readonly values: RowValues | undefined
}

/** Identifies a deployment in the address. Names of environments contain no dot. */
export const toDeploymentId = (applicationId: string, environment: string): string =>
  `${applicationId}.${environment}`

export function parseDeploymentId(id: string): {
  readonly applicationId: string
  readonly environment: string
} {
  const dot = id.lastIndexOf('.')
  return { applicationId: id.slice(0, dot), environment: id.slice(dot + 1) }
}

type Window = {
  /** The applications to read. */
  readonly pagination: { readonly limit: number; readonly offset: number }
  /** The number of rows of the first application that belong to the previous page. */
  readonly skipped: number
}

/** The API accepts only these page sizes. */
const applicationLimits = [10, 20, 25, 50, 100] as const
const maxLimit = 100

/** Returns the applications that a page of rows covers, if each application has `perApplication` rows. */
export function findWindow(page: number, size: number, perApplication: number): Window {
  const start = (page - 1) * size
  const offset = Math.floor(start / perApplication)
  const count = Math.ceil((start + size) / perApplication) - offset
  return {
    pagination: { offset, limit: applicationLimits.find((limit) => limit >= count) ?? maxLimit },
    skipped: start - offset * perApplication,
  }
}

/** The state of the backends of a deployment. */
export type Liveness = 'live' | 'partlyLive' | 'noneLive' | 'noneRegistered' | 'asleep'

export type BackendSummary = {
  readonly liveness: Liveness
  readonly live: number
  readonly total: number
  /** False if only the backends with the most recent heartbeats have been read. */
  readonly isComplete: boolean
  /** Versions of the live backends, most recent heartbeat first. */
  readonly versions: readonly string[]
  /** The oldest heartbeat of the live backends: the newest one would hide a backend that hangs. */
  readonly oldestHeartbeat: string | null
}

/** Summarizes backends, which are listed with the most recent heartbeat first. */
export function summarizeBackends({ nodes, totalCount }: RowBackends, canSleep: boolean): BackendSummary {
  const live = nodes.filter(({ isLive }) => isLive)
  return {
    liveness: findLiveness(live.length, totalCount, nodes.length, canSleep),
    live: live.length,
    total: totalCount,
    isComplete: nodes.length >= totalCount,
    versions: [...new Set(live.map(({ version }) => version))],
    oldestHeartbeat: (live.length > 0 ? live : nodes).at(-1)?.lastHeartbeat ?? null,
  }
}

function findLiveness(live: number, total: number, read: number, canSleep: boolean): Liveness {
  if (live === 0 && canSleep) return 'asleep'
  if (total === 0) return 'noneRegistered'
  if (live === 0) return 'noneLive'
  // If not all backends have been read, the ones that are silent the longest are missing.
  return live === total || (live === read && total > read) ? 'live' : 'partlyLive'
}
