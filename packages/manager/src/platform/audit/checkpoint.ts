// Signed checkpoints: they seal the heads of the chains that moved, so that later edits, deletions and truncations
// show even when whoever made them owns the database. Each is also logged, so a copy exists outside the database.
import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Clock } from '../clock.ts'
import type { Db, Tx } from '../db/database.ts'
import type { SigningKey } from '../keys.ts'
import { canonicalJson, genesisHash } from './entry.ts'

export type Head = { chainId: string; seq: number; hash: string }

export type Checkpoint = {
  seq: number
  createdAt: string
  heads: Head[]
  prevHash: string
  hash: string
  signature: string
  keyId: string
}

// Any number, the same in every replica: one of them writes at a time.
const lockKey = 7_202_611_151
const maxHeads = 1_000

/** The bytes a checkpoint's hash covers. */
export function hashCheckpoint(checkpoint: Omit<Checkpoint, 'hash' | 'signature'>): Buffer {
  const { seq, createdAt, heads, prevHash, keyId } = checkpoint
  return createHash('sha256').update(canonicalJson({ seq, createdAt, heads, prevHash, keyId })).digest()
}

/**
 * Seals up to 1,000 chains that moved since they were last sealed; null when none did or another replica is at it.
 * Costs one index scan over the moved chains, whatever the number of projects.
 */
export function writeCheckpoint(db: Db, key: SigningKey, clock: Clock): Promise<Checkpoint | null> {
  return db.transaction().execute(async (tx) => {
    const { rows } = await sql<{
      free: boolean
    }>`select pg_try_advisory_xact_lock(${lockKey}) as free`.execute(tx)
    if (rows[0]?.free !== true) return null
    const heads = await sealHeads(tx)
    if (heads.length === 0) return null
    const previous = await tx
      .selectFrom('auditCheckpoints')
      .select(['seq', 'hash'])
      .orderBy('seq', 'desc')
      .limit(1)
      .executeTakeFirst()
    const content = {
      seq: Number(previous?.seq ?? 0) + 1,
      createdAt: clock.now().toISOString(),
      heads,
      prevHash: (previous?.hash ?? genesisHash).toString('hex'),
      keyId: key.keyId,
    }
    const hash = hashCheckpoint(content)
    const signature = key.sign(hash)
    await tx
      .insertInto('auditCheckpoints')
      .values({
        seq: content.seq,
        createdAt: content.createdAt,
        heads: sql`${JSON.stringify(heads)}::jsonb`,
        prevHash: Buffer.from(content.prevHash, 'hex'),
        hash,
        signature,
        keyId: key.keyId,
      })
      .execute()
    return { ...content, hash: hash.toString('hex'), signature: signature.toString('base64') }
  })
}

async function sealHeads(tx: Tx): Promise<Head[]> {
  // Locked in the order in which writers lock chains, so that neither can wait for the other in a circle.
  const { rows } = await sql<{ chainId: string; seq: string; hash: Buffer }>`
    with moved as (
      select chain_id from audit_chains where seq > checkpointed_seq order by chain_id limit ${maxHeads} for update
    )
    update audit_chains c set checkpointed_seq = c.seq from moved where c.chain_id = moved.chain_id
    returning c.chain_id, c.seq, c.hash`.execute(tx)
  return rows
    .map((row) => ({ chainId: row.chainId, seq: Number(row.seq), hash: row.hash.toString('hex') }))
    .toSorted((a, b) => (a.chainId < b.chainId ? -1 : 1))
}
