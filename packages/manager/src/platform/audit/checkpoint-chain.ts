// Reads stored checkpoints, checks their links and signatures, and collects the chain heads in them.
import type { VerifyingKey } from '../secrets/keys.ts'
import { type Checkpoint, hashCheckpoint } from './checkpoint.ts'
import { genesisHash } from './entry.ts'
import type { Query, Seal } from './rows.ts'

/**
 * A key that verifies checkpoints. A retired key is valid only for the history up to the last checkpoint that it
 * signed.
 */
export type CheckpointKey = VerifyingKey & { last?: { seq: number; hash: string } }

/** The chain heads in checkpoints, by chain and seq. */
export type Anchors = Map<string, Map<number, Seal>>

/** A position in the sequence of checkpoints, with the hash that the next checkpoint must refer to. */
export type CheckpointPosition = { seq: number; hash: string }
export const beforeCheckpoints: CheckpointPosition = { seq: 0, hash: genesisHash.toString('hex') }

type StoredCheckpoint = Omit<Checkpoint, 'seq'> & { seq: string }

/** Returns the checkpoints from `from` to `to` in order, at most `limit` of them. */
export async function readCheckpointRange(
  query: Query,
  { from, to }: { from: number; to: number },
  limit: number,
): Promise<Checkpoint[]> {
  const rows = await query<StoredCheckpoint>(
    `select seq, created_at as "createdAt", heads, encode(prev_hash, 'hex') as "prevHash", encode(hash, 'hex') as hash,
       translate(encode(signature, 'base64'), E'\\n', '') as signature, key_id as "keyId"
     from audit_checkpoints where seq between $1 and $2 order by seq limit $3`,
    [from, to, limit],
  )
  return rows.map((row) => ({ ...row, seq: Number(row.seq) }))
}

/** Returns the reason why a checkpoint cannot follow another checkpoint, or null if it can. */
export function checkLink(checkpoint: Checkpoint, previous: CheckpointPosition): string | null {
  if (checkpoint.seq !== previous.seq + 1) return `checkpoint ${previous.seq + 1} is missing`
  return checkpoint.prevHash === previous.hash
    ? null
    : `checkpoint ${checkpoint.seq} does not follow its predecessor`
}

/** Returns the problem with a checkpoint's content, key or signature, or null if the checkpoint is valid. */
export function checkSeal(checkpoint: Checkpoint, keys: readonly CheckpointKey[]): string | null {
  const hash = hashCheckpoint(checkpoint)
  if (hash.toString('hex') !== checkpoint.hash) return 'was changed'
  const key = keys.find(({ keyId }) => keyId === checkpoint.keyId)
  if (key?.last !== undefined && checkpoint.seq > key.last.seq)
    return `is signed with the key ${checkpoint.keyId}, which was already retired`
  if (key === undefined) return `is signed with the unknown key ${checkpoint.keyId}`
  return key.verify(hash, Buffer.from(checkpoint.signature, 'base64')) ? null : 'has an invalid signature'
}

/**
 * Records the heads in the checkpoint. If a head contradicts an earlier head, keeps the earlier head and
 * returns the problem.
 */
export function addAnchors(anchors: Anchors, { heads, ...checkpoint }: Checkpoint): string | null {
  let problem: string | null = null
  for (const { chainId, seq, hash } of heads) {
    let chainAnchors = anchors.get(chainId)
    if (chainAnchors === undefined) anchors.set(chainId, (chainAnchors = new Map()))
    const earlierSeal = chainAnchors.get(seq)
    if (earlierSeal !== undefined && earlierSeal.hash !== hash)
      problem ??= `checkpoint ${checkpoint.seq} contradicts checkpoint ${earlierSeal.checkpoint.seq} about row ${seq} of chain ${chainId}`
    // A later checkpoint with the same head is equally valid; reports show the newest checkpoint.
    else chainAnchors.set(seq, { seq, hash, checkpoint })
  }
  return problem
}
