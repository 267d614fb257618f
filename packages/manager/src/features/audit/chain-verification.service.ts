// Verifies the chain of a project on request. A call verifies a part of the chain; the caller continues after it.
import type { KeyObject } from 'node:crypto'
import type { CheckpointKey } from '../../platform/audit/checkpoint-chain.ts'
import { type PartLimits, type PartReport, verifyChainPart } from '../../platform/audit/verify-part.ts'
import type { Clock } from '../../platform/clock.ts'
import { badRequest, rateLimited } from '../../platform/errors.ts'
import type { Database } from '../../platform/postgres/database.ts'

export type ChainVerificationDeps = {
  database: Pick<Database, 'openSnapshot'>
  clock: Clock
  keys: readonly CheckpointKey[]
  macKey: KeyObject
  limits?: PartLimits
}
export type ChainVerificationService = ReturnType<typeof createChainVerificationService>
export type ChainVerification = PartReport & { verifiedAt: string }

// A part ends long before the request times out.
const defaultLimits: PartLimits = { rows: 100_000, checkpoints: 100, ms: 5_000 }

/**
 * Creates the service. A process runs one verification at a time, because exports and reviews need the other snapshots.
 */
export function createChainVerificationService({ database, clock, ...options }: ChainVerificationDeps) {
  const { keys, macKey, limits = defaultLimits } = options
  let isActive = false
  return {
    /** Verifies the rows of the project from `fromSeq`. The verdict reveals no row, so it is not audited. */
    verify: async (projectId: string, fromSeq: number): Promise<ChainVerification> => {
      if (fromSeq < 1) throw badRequest('fromSeq must be at least 1')
      if (isActive)
        throw rateLimited('another verification is running; try again when it has finished', limits.ms)
      isActive = true
      try {
        const snapshot = await database.openSnapshot()
        try {
          const report = await verifyChainPart(snapshot, projectId, { keys, macKey, limits, fromSeq })
          return { ...report, verifiedAt: clock.now().toISOString() }
        } finally {
          await snapshot.close()
        }
      } finally {
        isActive = false
      }
    },
  }
}
