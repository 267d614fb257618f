// Signed checkpoints contain the heads of chains with new rows. They reveal later edits, deletions and truncations,
// even if the owner of the database makes them. Each checkpoint is also logged, so that a copy exists outside the
// database.
import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Clock } from '../clock.ts'
import type { Db, Reads } from '../postgres/handles.ts'
import type { SigningKey } from '../secrets/keys.ts'
import { formatCanonicalJson, genesisHash } from './entry.ts'

/** The number and the hash of the last row of a chain. */
export type Head = { chainId: string; seq: number; hash: string }

/** A signed list of chain heads, linked to the previous checkpoint by its hash. */
export type Checkpoint = {
  seq: number
  createdAt: string
  heads: Head[]
  prevHash: string
  hash: string
  signature: string
  keyId: string
}

const maxHeads = 1_000

/** Returns the hash that a checkpoint's signature covers. */
export function hashCheckpoint(checkpoint: Omit<Checkpoint, 'hash' | 'signature'>): Buffer {
  const { seq, createdAt, heads, prevHash, keyId } = checkpoint
  return createHash('sha256').update(formatCanonicalJson({ seq, createdAt, heads, prevHash, keyId })).digest()
}

/**
 * Writes a checkpoint for up to 1,000 chains that have rows after their last checkpoint, in id order after `after`.
 * Returns null if no chain has new rows, or if another replica wrote a checkpoint concurrently. Costs one index scan
 * over these chains, for any number of projects. No lock is held while this process hashes and signs: heads are read
 * as committed. The new position is recorded only on chains that no writer has locked. A chain that a stalled writer
 * has locked is included in the next checkpoint again, and blocks no other chain.
 */
export async function writeCheckpoint(
  db: Db,
  key: SigningKey,
  clock: Clock,
  after: string | null = null,
): Promise<Checkpoint | null> {
  const { heads, previous } = await readHeads(db.read, after)
  if (heads.length === 0) return null
  const content = {
    seq: Number(previous?.seq ?? 0) + 1,
    createdAt: clock.now().toISOString(),
    heads,
    prevHash: (previous?.hash ?? genesisHash).toString('hex'),
    keyId: key.keyId,
  }
  const hash = hashCheckpoint(content)
  const signature = key.sign(hash)
  const { rows } = await sql`
    with sealed as (
      select * from jsonb_to_recordset(${JSON.stringify(heads)}::jsonb) as h ("chainId" uuid, seq bigint)
    ), written as (
      insert into audit_checkpoints (seq, created_at, heads, prev_hash, hash, signature, key_id)
      values (${content.seq}, ${content.createdAt}::timestamptz, ${JSON.stringify(heads)}::jsonb,
        ${previous?.hash ?? genesisHash}, ${hash}, ${signature}, ${key.keyId})
      on conflict do nothing returning seq
    ), free as (
      select c.chain_id from audit_chains c join sealed s on s."chainId" = c.chain_id
      where exists (select from written) order by c.chain_id for update of c skip locked
    ), noted as (
      update audit_chains c set checkpointed_seq = greatest(c.checkpointed_seq, s.seq)
      from free join sealed s on s."chainId" = free.chain_id where c.chain_id = free.chain_id
    )
    select seq from written`.execute(db.write)
  if (rows.length === 0) return null
  return { ...content, hash: hash.toString('hex'), signature: signature.toString('base64') }
}

/** Writes checkpoints for all chains that have new rows, and reports each checkpoint as it is written. */
export async function sealMovedChains(
  db: Db,
  key: SigningKey,
  clock: Clock,
  onCheckpoint: (checkpoint: Checkpoint) => void = () => {},
): Promise<void> {
  // The loop visits the chains once, in id order. Otherwise, the loop would include a locked chain
  // repeatedly.
  for (let afterChainId: string | null = null; ;) {
    const checkpoint: Checkpoint | null = await writeCheckpoint(db, key, clock, afterChainId)
    if (checkpoint === null) return
    onCheckpoint(checkpoint)
    afterChainId = checkpoint.heads.at(-1)?.chainId ?? null
  }
}

/** Returns the age of the oldest change without a checkpoint, by the database clock; 0 if there is none. */
export async function readUnsealedMs(db: Reads): Promise<number> {
  const { rows } = await sql<{ age: number }>`
    select coalesce(extract(epoch from clock_timestamp() - min(l.created_at)), 0)::float8 as age
    from audit_chains c join audit_logs l on l.chain_id = c.chain_id and l.seq = c.checkpointed_seq + 1
    where c.seq > c.checkpointed_seq`.execute(db)
  return Math.max(0, (rows[0]?.age ?? 0) * 1_000)
}

/** Reads the heads to sign and the previous checkpoint in one statement, so that both are consistent. */
async function readHeads(
  db: Reads,
  after: string | null,
): Promise<{ heads: Head[]; previous: { seq: string; hash: Buffer } | undefined }> {
  type Row = { chainId: string; seq: string; hash: Buffer; lastSeq: string | null; lastHash: Buffer | null }
  const { rows } = await sql<Row>`
    select c.chain_id, c.seq, c.hash, last.seq as last_seq, last.hash as last_hash
    from audit_chains c
    left join lateral (select seq, hash from audit_checkpoints order by seq desc limit 1) last on true
    where c.seq > c.checkpointed_seq and (${after}::uuid is null or c.chain_id > ${after})
    order by c.chain_id limit ${maxHeads}`.execute(db)
  const [first] = rows
  const { lastSeq = null, lastHash = null } = first ?? {}
  return {
    heads: rows.map(({ chainId, seq, hash }) => ({ chainId, seq: Number(seq), hash: hash.toString('hex') })),
    previous: lastSeq === null || lastHash === null ? undefined : { seq: lastSeq, hash: lastHash },
  }
}
