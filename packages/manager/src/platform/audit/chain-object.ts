// Formats the verdict on a chain for reports and exports.
import type { Checkpoint } from './checkpoint.ts'
import type { ChainReport } from './verify.ts'

/** The verdict on one chain or on all chains, with the published field names. */
export type ChainObject = {
  status: ChainReport['status']
  entries: number
  from_seq: number | null
  to_seq: number | null
  head_hash: string | null
  first_broken_seq: number | null
  reason: string | null
  checkpoint: { size: number; hash: string; signature: string; keyId: string; created_at: string } | null
  verified_at: string
}

/**
 * Returns a checkpoint with the published field names; `seq` and `hash` belong to a chain head or to the checkpoint.
 */
export const formatCheckpoint = (
  { seq, hash }: { seq: number; hash: string },
  { signature, keyId, createdAt }: Pick<Checkpoint, 'signature' | 'keyId' | 'createdAt'>,
): ChainObject['checkpoint'] => ({ size: seq, hash, signature, keyId, created_at: createdAt })

/** Returns the verdict on one chain with the published field names. */
export function formatChain(chain: ChainReport, verifiedAt: Date): ChainObject {
  const { seal } = chain
  return {
    status: chain.status,
    entries: chain.entries,
    from_seq: chain.entries === 0 ? null : 1,
    to_seq: chain.entries === 0 ? null : chain.toSeq,
    head_hash: chain.headHash,
    first_broken_seq: chain.firstBrokenSeq,
    reason: chain.reason,
    checkpoint: seal === null ? null : formatCheckpoint(seal, seal.checkpoint),
    verified_at: verifiedAt.toISOString(),
  }
}
