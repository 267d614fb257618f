import { sql } from 'kysely'
import type { Reads, Tx } from '../../platform/postgres/handles.ts'
import { type PackageKey, type PiletPackage, packageColumns } from './packages.store.ts'

export type NewPackage = PackageKey & {
  id: string
  precedence: string
  isStable: boolean
  description: string
  contentType: string
  size: number
  hash: string
  spec: string
  signature: Buffer
  keyId: string
  statementSignature: Buffer
  statementKeyId: string
  enabled: boolean
}

/** Number and total size of all versions of a project. */
export type Usage = { packages: number; bytes: number }

/** Returns whether the version exists, and the usage of the project. */
export async function readVersionAndUsage(
  db: Reads,
  { projectId, name, version }: PackageKey,
): Promise<{ isTaken: boolean; usage: Usage }> {
  const { rows } = await sql<{ isTaken: boolean; packages: string; bytes: string }>`
    select exists (
        select from pilet_packages where project_id = ${projectId} and name = ${name} and version = ${version}
      ) as "isTaken",
      coalesce(max(packages), 0) as packages, coalesce(max(bytes), 0) as bytes
    from pilet_usage where project_id = ${projectId}`.execute(db)
  const [row] = rows
  return { isTaken: row?.isTaken === true, usage: parseUsage(row) }
}

const parseUsage = (row: { packages: string; bytes: string } | undefined): Usage => ({
  packages: Number(row?.packages),
  bytes: Number(row?.bytes),
})

/** Locks the project against deletion until the transaction ends. Returns false if it no longer exists. */
export async function lockProject(tx: Tx, projectId: string): Promise<boolean> {
  const row = await tx
    .selectFrom('projects')
    .select('id')
    .where('id', '=', projectId)
    .forKeyShare()
    .executeTakeFirst()
  return row !== undefined
}

export function insertPackage(tx: Tx, values: NewPackage): Promise<PiletPackage> {
  return tx.insertInto('piletPackages').values(values).returning(packageColumns).executeTakeFirstOrThrow()
}

/**
 * Adds a version to the usage of the project and returns the new usage. The row lock serializes uploads of a project.
 */
export async function addUsage(tx: Tx, projectId: string, size: number): Promise<Usage> {
  const row = await tx
    .insertInto('piletUsage')
    .values({ projectId, packages: 1, bytes: size })
    .onConflict((conflict) =>
      conflict.column('projectId').doUpdateSet((eb) => ({
        packages: eb('piletUsage.packages', '+', eb.ref('excluded.packages')),
        bytes: eb('piletUsage.bytes', '+', eb.ref('excluded.bytes')),
      })),
    )
    .returning(['packages', 'bytes'])
    .executeTakeFirstOrThrow()
  return parseUsage(row)
}
