// The logs that commands can follow.
import { type Connection, graphql } from '@manager/client'
import {
  type FollowAuditLogsResult,
  type FollowAuditLogsVariables,
  type FollowESBAuditLogsResult,
  type FollowESBAuditLogsVariables,
  type FollowTriggerRunsResult,
  type FollowTriggerRunsVariables,
  followAuditLogsDocument,
  followESBAuditLogsDocument,
  followTriggerRunsDocument,
} from '@manager/client/documents'
import type { LogPage, LogSource, PageRequest } from './source.ts'

export type LoggedCall = FollowESBAuditLogsResult['esbAuditLogsConnection']['nodes'][number]
export type TriggerRun = FollowTriggerRunsResult['triggerRunsConnection']['nodes'][number]
export type AuditEntry = FollowAuditLogsResult['auditLogsConnection']['nodes'][number]

type PageVariables = 'from' | 'to' | 'after' | 'pagination'
type GraphqlPage<Row> = {
  readonly nodes: readonly Row[]
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null }
}
const pagination = { limit: 100, offset: 0 }
const [secondMs, hourMs] = [1_000, 3_600_000]

const formatTime = (timeMs: number | null): string | null =>
  timeMs === null ? null : new Date(timeMs).toISOString()
const getPageVariables = ({ fromMs, toMs, after }: Omit<PageRequest, 'signal'>) => ({
  from: formatTime(fromMs),
  to: formatTime(toMs),
  after,
  pagination,
})
const toPage = <Row>({ nodes, pageInfo }: GraphqlPage<Row>): LogPage<Row> => ({
  rows: nodes,
  next: pageInfo.hasNextPage ? pageInfo.endCursor : null,
})

/**
 * The ESB calls of an application. A call is printed when it ends. Its row is ordered by the time of its start, and its
 * process writes the row up to 60 s later; the default timeouts end the call within the window.
 */
export const createCallSource = (
  connection: Connection,
  variables: Omit<FollowESBAuditLogsVariables, PageVariables | 'status'>,
  matches: (call: LoggedCall) => boolean = () => true,
): LogSource<LoggedCall> => ({
  readPage: async ({ signal, ...request }) => {
    const all = { ...variables, ...getPageVariables(request) }
    const result = await graphql(connection, followESBAuditLogsDocument, all, { signal })
    return toPage(result.esbAuditLogsConnection)
  },
  getId: ({ id }) => id,
  getTime: ({ timestamp }) => Date.parse(timestamp),
  getRecordedTime: ({ timestamp }) => Date.parse(timestamp),
  isOpen: ({ durationMs, failure }) => durationMs === null && failure === null,
  matches,
  windowMs: 150 * secondMs,
  lookbackMs: 0,
})

/**
 * The runs of a trigger. A run is printed when it ends. Runs are ordered by their planned time. After an outage, the
 * Manager records one run that still fires, by default up to 10 minutes late, and older runs as missed, all at once.
 */
export function createRunSource(
  connection: Connection,
  variables: Pick<FollowTriggerRunsVariables, 'trigger' | 'environmentId'>,
  matches: (run: TriggerRun) => boolean = () => true,
): LogSource<TriggerRun> {
  const read = async (
    { signal, ...request }: PageRequest,
    outcome?: string,
  ): Promise<LogPage<TriggerRun>> => {
    const all = { ...variables, ...getPageVariables(request), outcome }
    const result = await graphql(connection, followTriggerRunsDocument, all, { signal })
    return toPage(result.triggerRunsConnection)
  }
  return {
    readPage: (request) => read(request),
    getId: ({ id }) => id,
    getTime: ({ scheduledAt }) => Date.parse(scheduledAt),
    getRecordedTime: ({ createdAt }) => Date.parse(createdAt),
    isOpen: ({ outcome }) => outcome === 'pending',
    matches,
    // Covers the retries of a run. A trigger has few runs, so the window may be long.
    windowMs: hourMs,
    lookbackMs: hourMs,
    readOldPage: (request) => read({ ...request, fromMs: null, toMs: null }, 'missed'),
    needsOldRows: ({ isManual }) => !isManual,
  }
}

/** The audit trail of a project. Its entries are committed in their order, but their times can differ by a few seconds. */
export const createAuditSource = (
  connection: Connection,
  variables: Omit<FollowAuditLogsVariables, PageVariables>,
): LogSource<AuditEntry> => ({
  readPage: async ({ signal, ...request }) => {
    const all = { ...variables, ...getPageVariables(request) }
    const result = await graphql(connection, followAuditLogsDocument, all, { signal })
    return toPage(result.auditLogsConnection)
  },
  getId: ({ id }) => id,
  getTime: ({ createdAt }) => Date.parse(createdAt),
  getRecordedTime: ({ createdAt }) => Date.parse(createdAt),
  isOpen: () => false,
  matches: () => true,
  windowMs: 120 * secondMs,
  lookbackMs: 0,
})
