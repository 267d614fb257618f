// Keys derived from previous master keys. They sign nothing new, but still verify existing tokens and signatures.
import { type KeyObject, createSecretKey } from 'node:crypto'
import type { CheckpointKey } from '../audit/checkpoint-chain.ts'
import type { Reads } from '../postgres/handles.ts'
import { createVerifyingKey } from '../secrets/keys.ts'
import type { Secrets } from '../secrets/secrets.ts'

/** Previous keys that still verify personal access tokens and audit checkpoints. */
export type RetiredKeys = { checkKeys: readonly KeyObject[]; checkpointKeys: readonly CheckpointKey[] }
export const noRetiredKeys: RetiredKeys = { checkKeys: [], checkpointKeys: [] }

/** Reads the retired keys; throws if a stored purpose does not match the sealed one. */
export async function loadRetiredKeys(db: Reads, secrets: Secrets): Promise<RetiredKeys> {
  const rows = await db.selectFrom('retiredKeys').select(['id', 'purpose', 'sealed']).orderBy('id').execute()
  const retiredKeys = rows.map(({ id, sealed, purpose }) => {
    const key = JSON.parse(secrets.open(sealed, getRetiredKeyLocation(id))) as RetiredKey
    // The purpose is sealed too, so that write access to the database is not enough to use a key for a different
    // purpose.
    if (key.purpose !== purpose)
      throw new Error(`retired key ${id} was modified: its sealed purpose is not ${purpose}`)
    return key
  })
  return {
    checkKeys: retiredKeys.flatMap((key) =>
      key.purpose === 'access-token-check' ? [createSecretKey(Buffer.from(key.secret, 'base64'))] : [],
    ),
    checkpointKeys: retiredKeys.flatMap((key) =>
      key.purpose === 'audit-checkpoint'
        ? [{ ...createVerifyingKey(Buffer.from(key.publicKey, 'base64')), last: key.last }]
        : [],
    ),
  }
}

/** The sealed content of a retired key. */
export type RetiredKey =
  | { purpose: 'access-token-check'; secret: string }
  | { purpose: 'audit-checkpoint'; publicKey: string; last: { seq: number; hash: string } }

/** Returns the row and column that a sealed retired key is bound to. */
export const getRetiredKeyLocation = (id: string) => ({ table: 'retired_keys', column: 'sealed', id })
