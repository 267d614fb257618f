import type { Clock } from '../../platform/clock.ts'
import { sealMovedChains, readUnsealedMs } from '../../platform/audit/checkpoint.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import type { SigningKey } from '../../platform/secrets/keys.ts'
import { badRequest } from '../../platform/errors.ts'
import { parseUuid } from '../../platform/ids.ts'
import { type TimeBounds, readTimeWindow } from '../../platform/inputs/time-window.ts'
import { type ListArgs, readPage } from '../../platform/lists/filters.ts'
import { type LogArgs, readLogConnection, readLogQuery } from '../../platform/lists/log-page.ts'
import { countAuditRows, readAuditPage } from './audit-log-page.store.ts'
import type { Logger } from '../../platform/log/log.ts'
import type { AuditMetrics } from './audit.metrics.ts'
import * as store from './audit.store.ts'

export type AuditDeps = {
  db: Db
  clock: Clock
  log: Logger
  metrics: AuditMetrics
  checkpointKey: SigningKey
  /** Throws if this database belongs to a different master key. */
  assertMasterKey: () => Promise<void>
}
export type AuditService = ReturnType<typeof createAuditService>
/** A page in the shape of a GraphQL connection. The total is counted only when the client requests it. */
export type AuditPage = Awaited<ReturnType<AuditService['page']>>

export type AuditLog = {
  id: string
  seq: number
  projectId: string
  entityType: string
  entityID: string
  action: string
  description: string
  metadata: string
  changes: string
  principalType: string | null
  principal: string | null
  userId: string | null
  ipAddress: string
  userAgent: string
  createdAt: string
  hash: string
}

type AuditPageArgs = ListArgs & LogArgs & { entityId?: string | null; userId?: string | null }

/**
 * Creates the service that reads the audit trail and signs its checkpoints. Code that makes a change appends
 * its audit row with platform/audit/append.ts.
 */
export function createAuditService(deps: AuditDeps) {
  const { db, clock, log, metrics, checkpointKey } = deps
  // Log the checkpoint at every log level, because the log line is the copy outside the database.
  const checkpointLog = log.child({}, { level: 'info' })
  // A signed checkpoint covers every row that is older than this time (monotonic clock).
  let sealedAt: number | null = null
  metrics.watchCheckpointAge(() => (sealedAt === null ? null : (performance.now() - sealedAt) / 1_000))
  return {
    list: async (projectId: string, args: ListArgs & TimeBounds): Promise<AuditLog[]> => {
      const order =
        (args.order?.length ?? 0) > 0 ? args.order : [{ field: 'seq', direction: 'DESC' as const }]
      const window = readTimeWindow(args)
      const page = readPage(store.auditLogFields, { ...args, order })
      const rows = await store.listAuditLogs(db.read, projectId, { page, window })
      return rows.map(toAuditLog)
    },

    /** Returns a page of a project's trail by cursor, newest first. */
    page: async (projectId: string, { entityId, userId, ...args }: AuditPageArgs) => {
      const query = readLogQuery(args, position)
      if ((args.order?.length ?? 0) > 0)
        throw badRequest('auditLogsConnection always returns the newest entries first; omit order')
      const user = typeof userId === 'string' ? parseUuid(userId) : null
      if (typeof userId === 'string' && user === null) throw badRequest('userId must be a UUID')
      const page = readPage(store.auditLogFields, { filters: args.filters ?? [] })
      const selection = { chainId: projectId, entityId: entityId ?? null, userId: user, page }
      return readLogConnection(query, position, {
        read: async () => {
          const { rows, scannedTo } = await readAuditPage(db.read, selection, query)
          return { rows: rows.map(toAuditLog), scannedTo }
        },
        count: () => countAuditRows(db.read, selection, query),
      })
    },

    /** Writes a signed checkpoint for every chain that has new rows. The log line is the copy outside the database. */
    seal: async (): Promise<void> => {
      const startedAt = performance.now()
      // A process that has not written a checkpoint yet starts with the age that the database reports. Otherwise, a
      // restart would reset the reported age to 0.
      sealedAt ??= startedAt - (await readUnsealedMs(db.read))
      // A checkpoint that is signed with a different key could never be verified.
      await deps.assertMasterKey()
      await sealMovedChains(db, checkpointKey, clock, (checkpoint) => {
        metrics.checkpointSeq.set(checkpoint.seq)
        checkpointLog.info({ checkpoint }, 'audit checkpoint')
      })
      sealedAt = startedAt
    },
  }
}

const position = {
  name: 'audit seq desc',
  size: 1,
  positionOf: ({ seq }: AuditLog): string[] => [String(seq)],
}

/** Converts a row. Other properties, such as the cursor of a row, are kept. */
function toAuditLog({
  chainId,
  entityId,
  seq,
  metadata,
  changes,
  hash,
  principalId,
  ...row
}: store.AuditRow): AuditLog {
  return {
    ...row,
    projectId: chainId,
    entityID: entityId,
    principal: principalId,
    seq: Number(seq),
    metadata: JSON.stringify(metadata),
    changes: JSON.stringify(changes),
    hash: hash.toString('hex'),
  }
}
