// Keys of former master keys. They sign nothing new, and still verify what they signed.
import { type KeyObject, createSecretKey } from 'node:crypto'
import type { CheckpointKey } from '../audit/checkpoint-chain.ts'
import type { Reads } from '../postgres/handles.ts'
import { createVerifyingKey } from '../secrets/keys.ts'
import type { Secrets } from '../secrets/secrets.ts'

/** Former keys that still verify: of personal access tokens, and of checkpoints. */
export type RetiredKeys = { checkKeys: readonly KeyObject[]; checkpointKeys: readonly CheckpointKey[] }
export const noRetiredKeys: RetiredKeys = { checkKeys: [], checkpointKeys: [] }

/** Reads what former master keys left behind. */
export async function loadRetiredKeys(db: Reads, secrets: Secrets): Promise<RetiredKeys> {
  const rows = await db.selectFrom('retiredKeys').select(['id', 'purpose', 'sealed']).orderBy('id').execute()
  const opened = rows.map(({ id, sealed, purpose }) => {
    const key = JSON.parse(secrets.open(sealed, retiredPlace(id))) as RetiredKey
    // Sealed too, so that a writer to the database cannot use a key for another purpose.
    if (key.purpose !== purpose)
      throw new Error(`the retired key ${id} was changed: it is not for ${purpose}`)
    return key
  })
  return {
    checkKeys: opened.flatMap((key) =>
      key.purpose === 'access-token-check' ? [createSecretKey(Buffer.from(key.secret, 'base64'))] : [],
    ),
    checkpointKeys: opened.flatMap((key) =>
      key.purpose === 'audit-checkpoint'
        ? [{ ...createVerifyingKey(Buffer.from(key.publicKey, 'base64')), last: key.last }]
        : [],
    ),
  }
}

export type RetiredKey =
  | { purpose: 'access-token-check'; secret: string }
  | { purpose: 'audit-checkpoint'; publicKey: string; last: { seq: number; hash: string } }

/** Where a retired key is sealed. */
export const retiredPlace = (id: string) => ({ table: 'retired_keys', column: 'sealed', id })
