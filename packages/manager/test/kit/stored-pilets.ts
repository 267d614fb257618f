// Seeds stored packages with SQL, for tests that do not cover uploads. Verifies their signatures with only the data
// that pages have.
import { createHash, createPublicKey, randomUUID, verify } from 'node:crypto'
import type { Pool } from 'pg'
import { createAudit } from '../../src/platform/audit/append.ts'
import { createEncryptionRing } from '../../src/platform/secrets/keys.ts'
import { createMasterKeyLock } from '../../src/platform/secrets/master-key.ts'
import { createSecrets } from '../../src/platform/secrets/secrets.ts'
import { computePrecedence } from '../../src/features/pilets/precedence.pure.ts'
import type { TestApp } from './app.ts'

type Signature = { signature: Buffer; keyId: string }
type Wanted = { version?: string; bytes?: Buffer; signed?: Signature }

/** Seeds one version with its bytes and returns its id. It is unsigned unless a signature is given. */
export async function seedPilet(sql: Pool, projectId: string, name: string, wanted: Wanted = {}) {
  const { version = '1.0.0', bytes = Buffer.from(`//@pilet v:2\n${name} ${version}`), signed } = wanted
  const hash = createHash('sha256').update(bytes).digest('hex')
  await sql.query(
    `insert into blobs (sha256, size, store, unreferenced_since) values ($1, $2, 'postgres', null)
     on conflict do nothing`,
    [hash, bytes.length],
  )
  await sql.query(
    'insert into blob_chunks (sha256, position, bytes) values ($1, 0, $2) on conflict do nothing',
    [hash, bytes],
  )
  const { precedence, isStable } = computePrecedence(version)
  const id = randomUUID()
  await sql.query(
    `insert into pilet_packages (id, project_id, name, version, precedence, is_stable, content_type, size, hash, spec,
       signature, key_id, enabled)
     values ($1, $2, $3, $4, $5, $6, 'text/javascript', $7, $8, 'v2', $9, $10, true)`,
    [
      id,
      projectId,
      name,
      version,
      precedence,
      isStable,
      bytes.length,
      hash,
      signed?.signature ?? null,
      signed?.keyId ?? null,
    ],
  )
  return id
}

type StoredPilet = {
  id: string
  name: string
  signature: Buffer | null
  keyId: string | null
  bytes: Buffer
}

/** Returns every package with its signature and bytes, ordered by name and version. */
export async function readStoredPilets(sql: Pool): Promise<StoredPilet[]> {
  const { rows } = await sql.query<StoredPilet>(
    `select p.id, p.name, p.signature, p.key_id as "keyId",
       (select string_agg(bytes, '' order by position) from blob_chunks where sha256 = p.hash) as bytes
     from pilet_packages p order by p.name, p.version`,
  )
  return rows
}

/**
 * Returns whether a page accepts the bytes if it trusts the keys in `anchor`, which maps key ids to raw keys in base64.
 */
export function isTrusted(
  anchor: Record<string, string>,
  { bytes, signature, keyId }: { bytes: Buffer; signature: Buffer | null; keyId: string | null },
): boolean {
  const raw = anchor[keyId ?? '']
  if (raw === undefined || signature === null) return false
  const x = Buffer.from(raw, 'base64').toString('base64url')
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  return verify(null, bytes, key, signature)
}

/** Returns the dependencies of the key ring for a process of this service. */
export const signingDepsOf = ({ config, world }: TestApp) => ({
  db: world.database.db,
  audit: createAudit(world.clock),
  secrets: createSecrets(createEncryptionRing(config.masterKey, config.encryptionKeys)),
  lockMasterKey: createMasterKeyLock(config.masterKey),
})
