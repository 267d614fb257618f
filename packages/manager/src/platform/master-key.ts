// The one master key of an installation: whose key this database was made with, what a former one left behind, and how
// it is exchanged for another.
import { type KeyObject, createSecretKey } from 'node:crypto'
import { type RawBuilder, sql } from 'kysely'
import type { Db, Tx } from './db/database.ts'
import { newId } from './ids.ts'
import {
  type VerifyingKey,
  createSigningKey,
  createVerifyingKey,
  deriveSecretKey,
  masterKeyId,
} from './keys.ts'
import type { Secrets } from './secrets.ts'
import { resealAll } from './stored-secrets.ts'

/** Former keys that still verify: of personal access tokens, and of checkpoints. */
export type RetiredKeys = { checkKeys: readonly KeyObject[]; checkpointKeys: readonly VerifyingKey[] }
export const noRetiredKeys: RetiredKeys = { checkKeys: [], checkpointKeys: [] }

/**
 * Throws unless the database belongs to this master key; the first use makes it so. A database older than this check
 * belongs to the key that signed its last checkpoint.
 */
export async function assertMasterKey(db: Db, masterKey: Buffer): Promise<void> {
  const own = masterKeyId(masterKey)
  const found = (await readKeyId(db)) ?? (await claim(db, own, masterKey))
  if (found === own) return
  throw new Error(
    `SVC_MASTER_KEY is not the master key of this database (which has ${found ?? 'another one'}, not ${own}): ` +
      'start with the former key, or change it with `manager keys exchange-master`',
  )
}

async function readKeyId(db: Db | Tx, lock: RawBuilder<unknown> = sql``): Promise<string | null> {
  const { rows } = await sql<{ id: string }>`select master_key_id as id from installation ${lock}`.execute(db)
  return rows[0]?.id ?? null
}

async function claim(db: Db, own: string, masterKey: Buffer): Promise<string | null> {
  const { keyId } = createSigningKey(masterKey, 'audit-checkpoint')
  await sql`
    insert into installation (master_key_id)
    select ${own} where not exists (
      select from (select key_id from audit_checkpoints order by seq desc limit 1) as last
      where last.key_id <> ${keyId})
    on conflict do nothing`.execute(db)
  return readKeyId(db)
}

/** Reads what former master keys left behind. */
export async function loadRetiredKeys(db: Db, secrets: Secrets): Promise<RetiredKeys> {
  const rows = await db.selectFrom('retiredKeys').select(['id', 'purpose', 'sealed']).orderBy('id').execute()
  const opened = (purpose: string): Buffer[] =>
    rows
      .filter((row) => row.purpose === purpose)
      .map(({ id, sealed }) => Buffer.from(secrets.open(sealed, placeOf(id)), 'base64'))
  return {
    checkKeys: opened('access-token-check').map((bytes) => createSecretKey(bytes)),
    checkpointKeys: opened('audit-checkpoint').map(createVerifyingKey),
  }
}

const placeOf = (id: string) => ({ table: 'retired_keys', column: 'sealed', id })

type Exchange = { from: { masterKey: Buffer; secrets: Secrets }; to: { masterKey: Buffer; secrets: Secrets } }

/**
 * Makes the database belong to another master key, in the given transaction: every stored secret is sealed anew, and what
 * the former key issued and signed goes on verifying. Nothing else may use the database meanwhile.
 */
export async function exchangeMasterKey(tx: Tx, { from, to }: Exchange): Promise<{ resealed: number }> {
  const [former, next] = [masterKeyId(from.masterKey), masterKeyId(to.masterKey)]
  if (former === next) throw new Error('the new master key is the present one')
  if ((await readKeyId(tx, sql`for update`)) !== former)
    throw new Error('SVC_MASTER_KEY is not the master key of this database')
  const resealed = await resealAll(tx, from.secrets, to.secrets)
  const retired = {
    'access-token-check': deriveSecretKey(from.masterKey, 'access-token-check').export(),
    'audit-checkpoint': createSigningKey(from.masterKey, 'audit-checkpoint').publicKey,
  }
  for (const [purpose, bytes] of Object.entries(retired)) {
    const id = newId()
    // Sealed although one of them is public: whoever writes to the database cannot add a key of their own.
    const sealed = to.secrets.seal(bytes.toString('base64'), placeOf(id))
    await tx.insertInto('retiredKeys').values({ id, purpose, sealed }).execute()
  }
  await sql`update installation set master_key_id = ${next}`.execute(tx)
  return { resealed }
}
