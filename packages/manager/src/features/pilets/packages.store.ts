import { type RawBuilder, sql } from 'kysely'
import type { StoreName } from '../../platform/blobs/blob-store.ts'
import type { Reads, Tx } from '../../platform/postgres/handles.ts'
import type { PreparedStatement, RunPrepared } from '../../platform/postgres/prepared.ts'
import type { ListFields, Page } from '../../platform/lists/filters.ts'
import { countRows, fetchPage } from '../../platform/lists/page.ts'
import { type RevisionFields, revisionColumns } from '../../platform/postgres/revised.ts'

export type PiletPackage = RevisionFields & {
  id: string
  projectId: string
  name: string
  version: string
  description: string
  size: number
  hash: string
  enabled: boolean
  createdAt: string
}
/** Identifies a version. */
export type PackageKey = { projectId: string; name: string; version: string }
export type PackageFilter = { projectId: string; enabled: boolean | null }
/** A listed package with the sort key after which the next page starts. */
export type ListedPackage = PiletPackage & { precedence: string }
/** Data needed to send the bytes. */
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
  ...revisionColumns,
] as const

export const packagesPerPage = 500

// The index contains the rows of a project in this order. A page therefore reads only its own rows and the
// rows that the filter skips.
const pageStatement: PreparedStatement = {
  name: 'pilets-page',
  kind: 'read',
  size: 'large',
  text: `
    select id, project_id as "projectId", name, version, description, size, hash, enabled,
      created_at as "createdAt", updated_at as "updatedAt", revision, precedence
    from pilet_packages
    where project_id = $1 and ($2::boolean is null or enabled = $2)
      and (name, precedence, version) > ($3, $4, $5)
    order by name, precedence, version limit ${packagesPerPage}`,
}

/** Returns the packages after this package, ordered by name and precedence; null starts with the first package. */
export const readPackagesAfter = (
  run: RunPrepared,
  { projectId, enabled }: PackageFilter,
  after: ListedPackage | null,
): Promise<ListedPackage[]> => {
  const { name, precedence, version } = after ?? { name: '', precedence: '', version: '' }
  return run<ListedPackage>(pageStatement, [projectId, enabled, name, precedence, version])
}

export const packageFields: ListFields = {
  id: { column: 'id', match: 'id' },
  name: { column: 'name', match: 'text' },
  version: { column: 'version', match: 'exact', orderColumn: 'precedence' },
  description: { column: 'description', match: 'text' },
  size: { column: 'size', match: 'number' },
  enabled: { column: 'enabled', match: 'boolean' },
  createdAt: { column: 'createdAt', match: 'time' },
  updatedAt: { column: 'updatedAt', match: 'time' },
}
// Versions that differ only in build metadata have the same precedence.
const defaultOrder: Page['order'] = ['name', 'precedence', 'version'].map((column) => ({
  column,
  direction: 'asc',
}))

/** Returns a page, in the default order unless the page specifies another order. */
export const listPackages = (db: Reads, filter: PackageFilter, page: Page): Promise<PiletPackage[]> =>
  fetchPage(db, {
    table: 'piletPackages',
    columns: packageColumns,
    page: page.order.length > 0 ? page : { ...page, order: defaultOrder },
    where: createFilterCondition(filter),
  })

/** Returns the number of packages on all pages. */
export const countPackages = (db: Reads, filter: PackageFilter, page: Page): Promise<number> =>
  countRows(db, { table: 'piletPackages', page, where: createFilterCondition(filter) })

const createFilterCondition = ({ projectId, enabled }: PackageFilter): RawBuilder<boolean> =>
  enabled === null
    ? sql<boolean>`project_id = ${projectId}`
    : sql<boolean>`project_id = ${projectId} and enabled = ${enabled}`

const selectByKey = (db: Reads, { projectId, name, version }: PackageKey) =>
  db
    .selectFrom('piletPackages')
    .select(packageColumns)
    .where('projectId', '=', projectId)
    .where('name', '=', name)
    .where('version', '=', version)

export const findPackage = (db: Reads, key: PackageKey): Promise<PiletPackage | undefined> =>
  selectByKey(db, key).executeTakeFirst()

/** Returns a version and locks its row until the transaction ends. */
export const lockPackage = (tx: Tx, key: PackageKey): Promise<PiletPackage | undefined> =>
  selectByKey(tx, key).forNoKeyUpdate().executeTakeFirst()

/** Updates the fields that are not part of the immutable version. */
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

/** Finds the bytes of an enabled or disabled version. */
export async function findBundle(
  db: Reads,
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
