import { type RawBuilder, sql } from 'kysely'
import type { StoreName } from '../../platform/blobs/blob-store.ts'
import type { Database, Db, PreparedStatement, Tx } from '../../platform/db/database.ts'

export type PiletPackage = {
  id: string
  projectId: string
  name: string
  version: string
  description: string
  size: number
  hash: string
  enabled: boolean
  createdAt: string
  updatedAt: string
}
/** What names a version. */
export type PackageKey = { projectId: string; name: string; version: string }
export type PackageFilter = { projectId: string; enabled: boolean | null }
/** A row of a list with what decides where the next one begins. */
export type ListedPackage = PiletPackage & { precedence: string }
/** What is needed to send the bytes. */
export type StoredBundle = { hash: string; size: number; contentType: string; store: StoreName }

export const packageColumns = [
  'id',
  'projectId',
  'name',
  'version',
  'description',
  'size',
  'hash',
  'enabled',
  'createdAt',
  'updatedAt',
] as const

export const packagesPerPage = 500

// The index has a project's rows in this order: a page reads what it returns, and what the filter leaves out.
const pageStatement: PreparedStatement = {
  name: 'pilets-page',
  text: `
    select id, project_id as "projectId", name, version, description, size, hash, enabled,
      created_at as "createdAt", updated_at as "updatedAt", precedence
    from pilet_packages
    where project_id = $1 and ($2::boolean is null or enabled = $2)
      and (name, precedence, version) > ($3, $4, $5)
    order by name, precedence, version limit ${packagesPerPage}`,
}

/** The packages after this one, by name and precedence; null begins with the first. */
export const readPackagesAfter = (
  read: Database['readContent'],
  { projectId, enabled }: PackageFilter,
  after: ListedPackage | null,
): Promise<ListedPackage[]> => {
  const { name, precedence, version } = after ?? { name: '', precedence: '', version: '' }
  return read<ListedPackage>(pageStatement, [projectId, enabled, name, precedence, version])
}

/** One page in the same order. */
export function listPackages(
  db: Db,
  filter: PackageFilter,
  { limit, offset }: { limit: number; offset: number },
): Promise<PiletPackage[]> {
  return db
    .selectFrom('piletPackages')
    .select(packageColumns)
    .where(matching(filter))
    .orderBy('name')
    .orderBy('precedence')
    .orderBy('version')
    .limit(limit)
    .offset(offset)
    .execute()
}

export async function countPackages(db: Db, filter: PackageFilter): Promise<number> {
  const { count } = await db
    .selectFrom('piletPackages')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where(matching(filter))
    .executeTakeFirstOrThrow()
  return Number(count)
}

const matching = ({ projectId, enabled }: PackageFilter): RawBuilder<boolean> =>
  enabled === null
    ? sql<boolean>`project_id = ${projectId}`
    : sql<boolean>`project_id = ${projectId} and enabled = ${enabled}`

const byKey = (db: Db | Tx, { projectId, name, version }: PackageKey) =>
  db
    .selectFrom('piletPackages')
    .select(packageColumns)
    .where('projectId', '=', projectId)
    .where('name', '=', name)
    .where('version', '=', version)

export const findPackage = (db: Db, key: PackageKey): Promise<PiletPackage | undefined> =>
  byKey(db, key).executeTakeFirst()

/** The same, locked until the transaction ends. */
export const lockPackage = (tx: Tx, key: PackageKey): Promise<PiletPackage | undefined> =>
  byKey(tx, key).forNoKeyUpdate().executeTakeFirst()

/** Changes what is not part of the version itself. */
export function updatePackage(
  tx: Tx,
  id: string,
  values: { description?: string; enabled?: boolean },
): Promise<PiletPackage> {
  return tx
    .updateTable('piletPackages')
    .set({ ...values, updatedAt: sql`now()` })
    .where('id', '=', id)
    .returning(packageColumns)
    .executeTakeFirstOrThrow()
}

/** Where the bytes of a version are, enabled or not. */
export async function findBundle(
  db: Db,
  { projectId, name, version }: PackageKey,
): Promise<StoredBundle | undefined> {
  const row = await db
    .selectFrom('piletPackages')
    .innerJoin('blobs', 'blobs.sha256', 'piletPackages.hash')
    .select(['piletPackages.hash', 'piletPackages.size', 'piletPackages.contentType', 'blobs.store'])
    .where('projectId', '=', projectId)
    .where('name', '=', name)
    .where('version', '=', version)
    .executeTakeFirst()
  return row && { ...row, store: row.store as StoreName }
}
