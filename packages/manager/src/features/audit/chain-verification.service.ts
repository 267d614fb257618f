// Verifies the chain of a project on request. Each call verifies one part of the chain and returns the position at
// which the next call continues.
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

// Each part must end long before the request times out.
const defaultLimits: PartLimits = { rows: 100_000, checkpoints: 100, ms: 2_000 }

// These limits let the last waiting verification start before its request times out. One project can use at most half
// of the queue.
const [maxVerifications, maxPerProject] = [8, 4]

/**
 * Creates the service. A process runs one verification at a time, because exports and reviews need the remaining
 * snapshots.
 */
export function createChainVerificationService({ database, clock, ...options }: ChainVerificationDeps) {
  const { keys, macKey, limits = defaultLimits } = options
  /** The project of each running or waiting verification. */
  const projects: string[] = []
  let lastEnd: Promise<void> = Promise.resolve()
  return {
    /** Verifies the rows of the project from `fromSeq`. The verdict reveals no row, so it is not audited. */
    verify: async (projectId: string, fromSeq: number): Promise<ChainVerification> => {
      if (fromSeq < 1) throw badRequest('fromSeq must be at least 1')
      const sameProject = projects.filter((id) => id === projectId)
      if (sameProject.length >= maxPerProject || projects.length >= maxVerifications)
        throw rateLimited(
          'too many verifications are running or waiting; try again in a few seconds',
          limits.ms,
        )
      projects.push(projectId)
      const turn = lastEnd
      const { promise, resolve: end } = Promise.withResolvers<void>()
      lastEnd = promise
      try {
        await turn
        const snapshot = await database.openSnapshot()
        try {
          const report = await verifyChainPart(snapshot, projectId, { keys, macKey, limits, fromSeq })
          return { ...report, verifiedAt: clock.now().toISOString() }
        } finally {
          await snapshot.close()
        }
      } finally {
        projects.splice(projects.indexOf(projectId), 1)
        end()
      }
    },
  }
}
