// An export streams a snapshot of the audit trail row by row and includes the verification status of its chains.
import { createHash } from 'node:crypto'
import type { Actor } from '../../policy/actor.ts'
import { recheckSystemPermission } from '../../policy/recheck.ts'
import type { Audit } from '../../platform/audit/append.ts'
import type { ChainObject } from '../../platform/audit/chain-object.ts'
import type { ReadChainStatus } from '../../platform/audit/chain-status.ts'
import { formatCanonicalJson } from '../../platform/audit/entry.ts'
import type { Database } from '../../platform/postgres/database.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import type { Snapshot } from '../../platform/postgres/snapshots.ts'
import { formatCsvRecord } from '../../platform/lists/csv.ts'
import type { SigningKey } from '../../platform/secrets/keys.ts'
import { type ExportRequest, encodePosition, getNamedFilters } from './export.pure.ts'
import * as store from './export.store.ts'

export type ExportFormat = 'json' | 'ndjson' | 'csv'

export type ExportDeps = {
  db: Db
  database: Pick<Database, 'openSnapshot'>
  audit: Audit
  chainStatus: ReadChainStatus
  checkpointKey: SigningKey
}
export type ExportService = ReturnType<typeof createExportService>
/** Values that are known before the first row is read. */
type Frame = { request: ExportRequest; nextCursor: string | null; chain: ChainObject }

export function createExportService(deps: ExportDeps) {
  const { db, database, audit, chainStatus, checkpointKey } = deps

  /** Records the export before the first row is sent. */
  const record = (actor: Actor, format: ExportFormat, { filters, limit, after }: ExportRequest) =>
    db.transaction(async (tx) => {
      await recheckSystemPermission(tx, actor, 'AUDIT_EXPORT')
      await audit.append(tx, actor, {
        projectId: null,
        entityType: 'auditTrail',
        entityId: filters.projectId ?? 'all',
        action: 'export',
        description: `audit trail exported as ${format}`,
        classes: {},
        before: null,
        after: null,
        metadata: { format, filters: getNamedFilters(filters), limit, continued: after !== null },
      })
    })

  const open = async (request: ExportRequest) => {
    const snapshot = await database.openSnapshot()
    try {
      const chain = await chainStatus(snapshot, request.filters.projectId)
      await store.planForTimeWindow(snapshot, request)
      const nextPosition = await store.findNextPosition(snapshot, request)
      const frame: Frame = {
        request,
        chain,
        nextCursor: nextPosition === null ? null : encodePosition(nextPosition),
      }
      return { snapshot, frame }
    } catch (error) {
      await snapshot.close()
      throw error
    }
  }

  return {
    /** Starts an export. `pieces` is the body. The caller must call `close`, which also aborts a running export. */
    start: async (actor: Actor, format: ExportFormat, request: ExportRequest) => {
      await record(actor, format, request)
      const { snapshot, frame } = await open(request)
      const pieces = {
        json: () => generateJson(snapshot, frame),
        ndjson: () => generateNdjson(snapshot, frame, checkpointKey),
        csv: () => generateCsv(snapshot, frame),
      }[format]
      return {
        pieces: pieces(),
        nextCursor: frame.nextCursor,
        chain: frame.chain,
        close: () => snapshot.close(),
      }
    },
  }
}

// Each generator closes the snapshot before it yields the last piece. Otherwise, a client that requests the
// next page would compete with its own open snapshot.

async function* generateJson(snapshot: Snapshot, { request, nextCursor, chain }: Frame) {
  let [before, rowCount] = ['{"entries":[', 0]
  for await (const lines of store.streamEntries(snapshot, request)) {
    yield before + lines.join(',')
    before = ','
    rowCount += lines.length
  }
  await snapshot.close()
  const trailer = JSON.stringify({ count: rowCount, next_cursor: nextCursor, chain })
  yield `${rowCount === 0 ? before : ''}],${trailer.slice(1)}`
}

/** The last line describes the export and is signed, which proves that the file is complete. */
async function* generateNdjson(snapshot: Snapshot, { request, nextCursor, chain }: Frame, key: SigningKey) {
  const digest = createHash('sha256')
  let rowCount = 0
  for await (const lines of store.streamEntries(snapshot, request)) {
    const piece = `${lines.join('\n')}\n`
    digest.update(piece)
    rowCount += lines.length
    yield piece
  }
  await snapshot.close()
  const content = {
    filters: getNamedFilters(request.filters),
    is_continued: request.after !== null,
    count: rowCount,
    next_cursor: nextCursor,
    chain,
    digest: digest.digest('hex'),
    keyId: key.keyId,
    publicKey: key.publicKey.toString('base64'),
  }
  const signature = key.sign(createHash('sha256').update(formatCanonicalJson(content)).digest())
  yield `${JSON.stringify({ export: { ...content, signature: signature.toString('base64') } })}\n`
}

async function* generateCsv(snapshot: Snapshot, { request }: Frame) {
  yield formatCsvRecord(store.exportColumns)
  for await (const records of store.streamRecords(snapshot, request))
    yield records.map(formatCsvRecord).join('')
  await snapshot.close()
}
