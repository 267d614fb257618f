// Lists, reads, describes, enables and disables packages for project members. Uploads are in uploads.service.ts.
import type { Actor } from '../../policy/actor.ts'
import { type ExpectedRevision, checkRevision } from '../../policy/revisions.ts'
import type { Audit } from '../../platform/audit/append.ts'
import { createEventBuilder } from '../../platform/audit/entity.ts'
import type { Database } from '../../platform/postgres/database.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import { type AppError, notFound } from '../../platform/errors.ts'
import { checkFields } from '../../platform/inputs/fields.ts'
import { selectChanges, checkText } from '../../platform/inputs/inputs.ts'
import { isExactVersion, isPackageName } from '../../platform/inputs/packages.ts'
import { type ListArgs, readPage } from '../../platform/lists/filters.ts'
import * as store from './packages.store.ts'

export type PackagesDeps = { db: Db; audit: Audit; database: Pick<Database, 'run'> }
export type PackagesService = ReturnType<typeof createPackagesService>
export type PackageList = { packages: store.PiletPackage[]; count: number }
type Values = { description?: string | null | undefined; enabled?: boolean | null | undefined }
type Changes = Values & { expectedRevision?: ExpectedRevision }

export const maxDescriptionLength = 1_000
const createPackageNotFoundError = (): AppError => notFound('package')

export const packageEvent = createEventBuilder<store.PiletPackage>({
  type: 'piletPackage',
  classes: {
    id: 'public',
    projectId: 'ignored',
    name: 'public',
    version: 'public',
    description: 'public',
    size: 'public',
    hash: 'public',
    enabled: 'public',
    createdAt: 'ignored',
  },
  nameOf: ({ name, version }) => `${name} ${version}`,
  projectOf: ({ projectId }) => projectId,
})

export function createPackagesService({ db, audit, database }: PackagesDeps) {
  const readPageAfter = (filter: store.PackageFilter, after: store.ListedPackage | null) =>
    store.readPackagesAfter(database.run, filter, after)

  /** Updates a version. If nothing changes, writes no row and no audit event. */
  const update = (
    actor: Actor,
    key: store.PackageKey,
    { expectedRevision, ...input }: Changes,
  ): Promise<store.PiletPackage> => {
    const values = selectChanges(input)
    checkFields({
      description: () => checkText(values.description ?? '', 'description', maxDescriptionLength),
    })
    return db.transaction(async (tx) => {
      const before = canExist(key) ? await store.lockPackage(tx, key) : undefined
      if (before === undefined) throw createPackageNotFoundError()
      await checkRevision(tx, actor, before, expectedRevision)
      const { description = before.description, enabled = before.enabled } = values
      if (description === before.description && enabled === before.enabled) return before
      const after = await store.updatePackage(tx, before.id, { description, enabled })
      await audit.append(tx, actor, packageEvent('update', { before, after }))
      return after
    })
  }
  return {
    update,

    /**
     * Returns the packages of a project in pages, ordered by name and precedence. Only the first page can be empty. It
     * is read before this function returns, so that most failures occur before the response starts.
     */
    pages: async (filter: store.PackageFilter): Promise<AsyncIterable<readonly store.PiletPackage[]>> =>
      yieldPages(await readPageAfter(filter, null), (last) => readPageAfter(filter, last)),

    /**
     * Returns a page and the total count. Without filters, order and pagination it returns all packages, and charges
     * the response budget while reading.
     */
    list: async (
      filter: store.PackageFilter,
      args: ListArgs,
      charge: (bytes: number) => void,
    ): Promise<PackageList> => {
      if (isPaged(args)) {
        const page = readPage(store.packageFields, args)
        const packages = await store.listPackages(db.read, filter, page)
        return { packages, count: await store.countPackages(db.read, filter, page) }
      }
      const packages: store.PiletPackage[] = []
      const firstPage = await readPageAfter(filter, null)
      for await (const page of yieldPages(firstPage, (last) => readPageAfter(filter, last))) {
        charge(page.reduce((bytes, storedPackage) => bytes + estimateBytes(storedPackage), 0))
        packages.push(...page)
      }
      return { packages, count: packages.length }
    },

    /** Returns one page of packages. */
    listPage: (filter: store.PackageFilter, args: ListArgs): Promise<store.PiletPackage[]> =>
      store.listPackages(db.read, filter, readPage(store.packageFields, args)),

    find: async (key: store.PackageKey): Promise<store.PiletPackage> => {
      const storedPackage = canExist(key) ? await store.findPackage(db.read, key) : undefined
      if (storedPackage === undefined) throw createPackageNotFoundError()
      return storedPackage
    },

    /** Returns the data needed to send the bytes of an enabled or disabled version. */
    findBundle: async (key: store.PackageKey): Promise<store.StoredBundle> => {
      const bundle = canExist(key) ? await store.findBundle(db.read, key) : undefined
      if (bundle === undefined) throw createPackageNotFoundError()
      return bundle
    },
  }
}

const isPaged = ({ filters, order, pagination }: ListArgs): boolean =>
  (filters?.length ?? 0) > 0 || (order?.length ?? 0) > 0 || (pagination ?? null) !== null

/** Returns whether an upload could have created this key. Other keys need no lookup. */
const canExist = ({ name, version }: store.PackageKey): boolean =>
  isPackageName(name) && isExactVersion(version)

// Approximate size of a row, excluding its text fields.
const rowBytes = 250
const estimateBytes = ({ name, version, description }: store.PiletPackage): number =>
  rowBytes + name.length + version.length + Buffer.byteLength(description)

/** Yields this page and all later pages; `next` reads the page after a package. */
async function* yieldPages(
  firstPage: store.ListedPackage[],
  readNextPage: (last: store.ListedPackage) => Promise<store.ListedPackage[]>,
): AsyncGenerator<readonly store.PiletPackage[]> {
  yield firstPage
  let lastPackage = firstPage.length < store.packagesPerPage ? undefined : firstPage.at(-1)
  while (lastPackage !== undefined) {
    const page = await readNextPage(lastPackage)
    if (page.length > 0) yield page
    lastPackage = page.length < store.packagesPerPage ? undefined : page.at(-1)
  }
}
