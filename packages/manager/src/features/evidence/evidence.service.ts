// This service runs evidence queries. A run streams the rows of a snapshot and includes the verification status of the
// audit chains in the same snapshot. Every run is recorded in the audit trail before its first row is sent.
import type { Actor } from '../../policy/actor.ts'
import { recheckSystemPermission } from '../../policy/recheck.ts'
import type { Audit } from '../../platform/audit/append.ts'
import type { ChainObject } from '../../platform/audit/chain-object.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import type { OpenSnapshot, Snapshot } from '../../platform/postgres/snapshots.ts'
import { orNotFound } from '../../platform/errors.ts'
import type { AuditTrailApi } from '../audit/index.ts'
import { type EvidenceQuery, indexByName, buildEvidenceStatement } from './evidence-query.pure.ts'
import { type RequestedWindow, type Window, readWindow } from './window.pure.ts'

export type EvidenceDeps = {
  db: Db
  audit: Audit
  openSnapshot: OpenSnapshot
  auditTrail: AuditTrailApi
  queries: readonly EvidenceQuery[]
  maxRows: number
}
export type EvidenceService = ReturnType<typeof createEvidenceService>
type Row = Record<string, unknown>

/** A run whose first rows have already been read. The caller must close it. */
export type EvidenceRun = Window & {
  name: string
  generatedAt: string
  columns: string[]
  chain: ChainObject
  /** Yields the rows in batches. Returns their number and whether more rows exist. */
  rows: AsyncGenerator<Row[], { count: number; isTruncated: boolean }>
  close(): Promise<void>
}

const batchSize = 200

export function createEvidenceService(deps: EvidenceDeps) {
  const { db, audit, openSnapshot, auditTrail, maxRows } = deps
  const queries = indexByName(deps.queries)

  /** The first statement determines the snapshot, so a run never contains its own audit row. */
  const start = async (
    actor: Actor,
    snapshot: Snapshot,
    query: EvidenceQuery,
    requestedWindow: RequestedWindow,
  ): Promise<Omit<EvidenceRun, 'close'>> => {
    const [timeRow] = await snapshot.query<{ now: string }>('select now() as now')
    const generatedAt = (timeRow as { now: string }).now
    const window = readWindow(requestedWindow, new Date(generatedAt))
    const chain = await auditTrail.chainStatus(snapshot, null)
    const times = { from: window.from.toISOString(), to: window.to.toISOString() }
    const values = [times.from, times.to, maxRows + 1]
    const batches = snapshot.stream<Row>(buildEvidenceStatement(query), values, batchSize)
    // The first batch is read here, so that statement errors occur before the response starts.
    const firstBatch = await batches.next()
    await db.transaction(async (tx) => {
      await recheckSystemPermission(tx, actor, 'EVIDENCE_READ')
      await audit.append(tx, actor, createReadEvent(query, times))
    })
    const columns = Object.keys(query.columns)
    return {
      name: query.name,
      ...window,
      generatedAt,
      columns,
      chain,
      rows: limitRows(firstBatch, batches, maxRows),
    }
  }

  return {
    list: () =>
      [...queries.values()].map(({ name, title, description, controls, columns }) => ({
        name,
        title,
        description,
        controls: [...controls],
        columns: Object.keys(columns),
      })),

    /**
     * Throws 404 for an unknown query, 400 for an invalid window, and 503 if too many reports are running.
     * Aborting the signal closes the run.
     */
    run: async (
      actor: Actor,
      name: string,
      requested: RequestedWindow,
      signal: AbortSignal,
    ): Promise<EvidenceRun> => {
      const query = orNotFound(queries.get(name), 'evidence query')
      const snapshot = await openSnapshot()
      const close = (): Promise<void> => snapshot.close()
      signal.addEventListener('abort', () => void close(), { once: true })
      try {
        signal.throwIfAborted()
        return { ...(await start(actor, snapshot, query, requested)), close }
      } catch (error) {
        await close()
        throw error
      }
    },
  }
}

/** Yields the batches up to a total of `maxRows` rows. */
async function* limitRows(
  first: IteratorResult<Row[], void>,
  remainingBatches: AsyncGenerator<Row[], void, void>,
  maxRows: number,
): AsyncGenerator<Row[], { count: number; isTruncated: boolean }> {
  let count = 0
  for (let batch = first; batch.done !== true; batch = await remainingBatches.next()) {
    const rows = batch.value.slice(0, maxRows - count)
    count += batch.value.length
    if (rows.length > 0) yield rows
  }
  return { count: Math.min(count, maxRows), isTruncated: count > maxRows }
}

const createReadEvent = (query: EvidenceQuery, times: { from: string; to: string }) => ({
  projectId: null,
  entityType: 'evidence',
  entityId: query.name,
  action: 'read' as const,
  description: `evidence ${query.name} read`,
  classes: {},
  before: null,
  after: null,
  metadata: times,
})
