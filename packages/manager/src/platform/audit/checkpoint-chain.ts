// Checkpoints as they are stored, the rules that each must meet, and what they say about the chains.
import type { VerifyingKey } from '../secrets/keys.ts'
import { type Checkpoint, hashCheckpoint } from './checkpoint.ts'
import { genesisHash } from './entry.ts'
import type { Query, Seal } from './rows.ts'

/** A key of checkpoints; a retired one counts up to the last checkpoint that it signed, and for no other history. */
export type CheckpointKey = VerifyingKey & { last?: { seq: number; hash: string } }

/** For each chain, the heads that checkpoints sealed, by seq. */
export type Anchors = Map<string, Map<number, Seal>>

/** A place among the checkpoints, with the hash that the next one must name. */
export type CheckpointPosition = { seq: number; hash: string }
export const beforeCheckpoints: CheckpointPosition = { seq: 0, hash: genesisHash.toString('hex') }

type StoredCheckpoint = Omit<Checkpoint, 'seq'> & { seq: string }

/** The checkpoints from `from` to `to`, at most `limit` of them. */
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

/** What is wrong with a checkpoint as the successor of another. */
export function checkLink(checkpoint: Checkpoint, previous: CheckpointPosition): string | null {
  if (checkpoint.seq !== previous.seq + 1) return `checkpoint ${previous.seq + 1} is missing`
  return checkpoint.prevHash === previous.hash
    ? null
    : `checkpoint ${checkpoint.seq} does not follow its predecessor`
}

/** What is wrong with a checkpoint's content, key or signature. */
export function checkSeal(checkpoint: Checkpoint, keys: readonly CheckpointKey[]): string | null {
  const hash = hashCheckpoint(checkpoint)
  if (hash.toString('hex') !== checkpoint.hash) return 'was changed'
  const key = keys.find(({ keyId }) => keyId === checkpoint.keyId)
  if (key?.last !== undefined && checkpoint.seq > key.last.seq)
    return `is signed with the key ${checkpoint.keyId}, which was retired before`
  if (key === undefined) return `is signed with the unknown key ${checkpoint.keyId}`
  return key.verify(hash, Buffer.from(checkpoint.signature, 'base64')) ? null : 'has a false signature'
}

/** Notes what the checkpoint seals; returns what it says differently than one before. The first one counts. */
export function addAnchors(anchors: Anchors, { heads, ...checkpoint }: Checkpoint): string | null {
  let problem: string | null = null
  for (const { chainId, seq, hash } of heads) {
    let ofChain = anchors.get(chainId)
    if (ofChain === undefined) anchors.set(chainId, (ofChain = new Map()))
    const before = ofChain.get(seq)
    if (before !== undefined && before.hash !== hash)
      problem ??= `checkpoint ${checkpoint.seq} seals row ${seq} of chain ${chainId} differently than checkpoint ${before.checkpoint.seq}`
    // The same row sealed again is as good; the newest seal is the one to show.
    else ofChain.set(seq, { seq, hash, checkpoint })
  }
  return problem
}
