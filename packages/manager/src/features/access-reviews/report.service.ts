// The report is a snapshot of the complete access list. Its head is read and recorded before the first byte is sent. A
// cursor then streams the entries, so memory does not grow with their number.
import type { Actor } from '../../policy/actor.ts'
import { recheckSystemPermission } from '../../policy/recheck.ts'
import type { Audit } from '../../platform/audit/append.ts'
import type { ChainObject } from '../../platform/audit/chain-object.ts'
import type { Database } from '../../platform/postgres/database.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import type { Snapshot } from '../../platform/postgres/snapshots.ts'
import { orNotFound } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import type { Schedule } from '../../platform/jobs/schedules.ts'
import type { AuditTrailApi } from '../audit/index.ts'
import * as store from './access-reviews.store.ts'
import { countEntriesByValue, computeRank, recommend, scopeTypes, createZeroCounts } from './flags.pure.ts'

export type ReportDeps = {
  db: Db
  database: Pick<Database, 'openSnapshot'>
  audit: Audit
  auditTrail: Pick<AuditTrailApi, 'chainStatus'>
}
export type ReportService = ReturnType<typeof createReportService>

type Format = 'json' | 'csv' | 'html'
type ReportRequest = { projectId: string | null; format: Format }
type Scope = { type: 'system' } | { type: 'project'; id: string; name: string }
type Summary = ReturnType<typeof summarize>
/** The part of the report before its entries. */
export type ReportHead = {
  report_id: string
  generated_at: string
  scope: Scope
  population_hash: string
  summary: Summary
  chain: ChainObject
}
export type Entry = ReturnType<typeof toEntry>
/** A report with an open connection. `close` releases the connection, even if not all entries were read. */
export type OpenReport = { head: ReportHead; close: () => Promise<void> }
export type StreamedReport = OpenReport & { batches: AsyncIterable<Entry[]> }
export type DisplayedReport = OpenReport & { entries: (Entry & { project_name: string | null })[] }

const maxRoles = 100
const maxShown = 1_000
const [sweepEveryMs, deleteBatchSize] = [3_600_000, 1_000]

export function createReportService({ db, database, audit, auditTrail }: ReportDeps) {
  const record = createRecorder(db, audit)

  /** Reads the head of the report, then calls `read`. Every error releases the connection. */
  const openReport = async <Read>(
    actor: Actor,
    request: ReportRequest,
    signal: AbortSignal,
    read: (snapshot: Snapshot, summary: store.SummaryRow) => Promise<Read>,
  ): Promise<OpenReport & { read: Read }> => {
    const snapshot = await database.openSnapshot()
    const close = (): Promise<void> => snapshot.close()
    // If the client disconnects, stop the report and release its connection.
    signal.addEventListener('abort', () => void close(), { once: true })
    try {
      signal.throwIfAborted()
      const scope = await findScope(snapshot, request.projectId)
      const summary = await store.readSummary(snapshot, request.projectId, maxRoles)
      const head: ReportHead = {
        report_id: newId(),
        generated_at: summary.generated_at,
        scope,
        population_hash: summary.hash,
        summary: summarize(summary),
        chain: await auditTrail.chainStatus(snapshot, request.projectId),
      }
      const result = await read(snapshot, summary)
      await record(actor, head, request)
      return { head, close, read: result }
    } catch (error) {
      await close()
      throw error
    }
  }

  return {
    schedule: createSweep(db),

    /**
     * Streams all entries in batches. The first batch has already been loaded. A later error truncates the
     * response.
     */
    stream: async (actor: Actor, request: ReportRequest, signal: AbortSignal): Promise<StreamedReport> => {
      const { head, close, read } = await openReport(actor, request, signal, async (snapshot) => {
        const rows = store.streamEntries(snapshot, request.projectId)
        return { rows, firstBatch: await rows.next() }
      })
      return { head, close, batches: streamBatches(read, close) }
    },

    /** Returns the entries that fit on a page. Entries to revoke come first. */
    show: async (actor: Actor, request: ReportRequest, signal: AbortSignal): Promise<DisplayedReport> => {
      const { read, ...report } = await openReport(actor, request, signal, (snapshot, { groups }) => {
        const ranks = new Map(groups.map(({ flags }) => [flags.join(','), computeRank(flags)]))
        return store.readFirstEntries(snapshot, request.projectId, maxShown, ranks)
      })
      await report.close()
      return { ...report, entries: read.map((row) => ({ ...toEntry(row), project_name: row.project_name })) }
    },
  }
}

/** Records, before the response starts, who reads which report. Throws if the actor has lost the permission. */
const createRecorder =
  (db: Db, audit: Audit) =>
  (actor: Actor, head: ReportHead, { projectId, format }: ReportRequest): Promise<void> =>
    db.transaction(async (tx) => {
      const { report_id: id, population_hash: populationHash, summary } = head
      const { entries } = summary
      await recheckSystemPermission(tx, actor, 'ACCESS_REVIEW')
      await store.insertReport(tx, { id, projectId, populationHash, entries }, actor.user.id)
      await audit.append(tx, actor, {
        projectId: null,
        entityType: 'accessReview',
        entityId: id,
        action: 'read',
        description: `accessReview of ${projectId === null ? 'the system' : `project ${projectId}`} read`,
        classes: {},
        before: null,
        after: null,
        metadata: { project_id: projectId, format, population_hash: populationHash, entries },
      })
    })

const createSweep = (db: Db): Schedule => ({
  name: 'access-reviews',
  everyMs: sweepEveryMs,
  run: async (signal) => {
    const canContinue = (count: number): boolean => count === deleteBatchSize && signal?.aborted !== true
    while (canContinue(await store.deleteOldReports(db.write, deleteBatchSize)));
  },
})

async function findScope(snapshot: Snapshot, projectId: string | null): Promise<Scope> {
  if (projectId === null) return { type: 'system' }
  const name = orNotFound(await store.findProjectName(snapshot, projectId), 'project')
  return { type: 'project', id: projectId, name }
}

async function* streamBatches(
  {
    rows,
    firstBatch,
  }: { rows: AsyncGenerator<store.EntryRow[]>; firstBatch: IteratorResult<store.EntryRow[], void> },
  close: () => Promise<void>,
): AsyncGenerator<Entry[]> {
  try {
    if (firstBatch.done !== true) yield firstBatch.value.map(toEntry)
    for await (const batch of rows) yield batch.map(toEntry)
  } finally {
    await close()
  }
}

function summarize(row: store.SummaryRow) {
  const listedCount = row.roles.reduce((sum, { entries }) => sum + entries, 0)
  return {
    entries: row.count,
    principals: row.principals,
    activity_recorded_since: row.activity_recorded_since,
    principals_by_scope_type: { ...createZeroCounts(scopeTypes), ...row.principals_by_scope },
    ...countEntriesByValue(row.groups),
    by_role: row.roles,
    /** The number of entries with roles that `by_role` does not list. */
    other_roles: row.count - listedCount,
  }
}

/** Converts a row to an entry of the API response. */
function toEntry(row: store.EntryRow) {
  const { attestation_id, attested_at, attested_by, decision, project_name: _, flags, ...rest } = row
  return {
    ...rest,
    flags,
    recommendation: recommend(flags),
    last_attestation: attestation_id === null ? null : { attestation_id, attested_at, attested_by, decision },
  }
}
