// Verifies the chain of a project on request. A call verifies a part of the chain; the caller continues after it.
import type { KeyObject } from 'node:crypto'
import type { Actor } from '../../policy/actor.ts'
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

/** Creates the service. In each process, a project and a person have at most one verification at a time. */
export function createChainVerificationService({ database, clock, ...options }: ChainVerificationDeps) {
  const { keys, macKey, limits = defaultLimits } = options
  const active = new Set<string>()
  return {
    /** Verifies the rows of the project from `fromSeq`. The verdict reveals no row, so it is not audited. */
    verify: async (actor: Actor, projectId: string, fromSeq: number): Promise<ChainVerification> => {
      if (fromSeq < 1) throw badRequest('fromSeq must be at least 1')
      const owners = [`project ${projectId}`, `user ${actor.user.id}`]
      if (owners.some((owner) => active.has(owner)))
        throw rateLimited(
          'a verification for this project or by you is already running; try again when it has finished',
          limits.ms,
        )
      for (const owner of owners) active.add(owner)
      try {
        const snapshot = await database.openSnapshot()
        try {
          const report = await verifyChainPart(snapshot, projectId, { keys, macKey, limits, fromSeq })
          return { ...report, verifiedAt: clock.now().toISOString() }
        } finally {
          await snapshot.close()
        }
      } finally {
        for (const owner of owners) active.delete(owner)
      }
    },
  }
}
