import { sql } from 'kysely'
import type { BlobRef, StoreName } from '../../platform/blobs/blob-store.ts'
import type { Reads, Tx } from '../../platform/postgres/handles.ts'

/** A package with the reference to its bytes and its current signature. */
export type PackageToSign = BlobRef & {
  id: string
  projectId: string
  project: string
  name: string
  version: string
  keyId: string | null
  signature: Buffer | null
  /** Whether the same key has also signed a statement about the package. */
  hasStatement: boolean
}

/**
 * Returns packages that were signed with this key, ordered by id. If the key is null, returns packages without a
 * signature or a statement.
 */
export function findPackagesToSign(
  db: Reads,
  { keyId, after, limit }: { keyId: string | null; after: string; limit: number },
): Promise<PackageToSign[]> {
  return db
    .selectFrom('piletPackages as p')
    .innerJoin('blobs as b', 'b.sha256', 'p.hash')
    .innerJoin('projects', 'projects.id', 'p.projectId')
    .select([
      'p.id',
      'p.projectId',
      'projects.slug as project',
      'p.name',
      'p.version',
      'p.keyId',
      'p.signature',
    ])
    .select(['b.sha256', 'b.size', sql<StoreName>`b.store`.as('store')])
    .select(sql<boolean>`coalesce(p.statement_key_id = p.key_id, false)`.as('hasStatement'))
    .where((eb) =>
      keyId === null
        ? eb.or([eb('p.keyId', 'is', null), eb('p.statementKeyId', 'is distinct from', eb.ref('p.keyId'))])
        : eb('p.keyId', '=', keyId),
    )
    .where('p.id', '>', after)
    .orderBy('p.id')
    .limit(limit)
    .execute()
}

/** Writes a signature. Returns false if the package was signed or removed concurrently. `updatedAt` does not change. */
export async function writeSignature(
  tx: Tx,
  { id, sha256, keyId }: PackageToSign,
  values: { signature: Buffer; keyId: string; statementSignature: Buffer; statementKeyId: string },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('piletPackages')
    .set(values)
    .where('id', '=', id)
    .where('hash', '=', sha256)
    .where('keyId', 'is not distinct from', keyId)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}
