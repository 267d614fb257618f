// Packages as members of a project list, read, describe, enable and disable them. How they come in is not here (uploads).
import type { Actor } from '../../policy/actor.ts'
import type { Audit } from '../../platform/audit/append.ts'
import { auditedEntity } from '../../platform/audit/entity.ts'
import type { Database } from '../../platform/postgres/database.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import { type AppError, notFound } from '../../platform/errors.ts'
import { changesOf, checkText } from '../../platform/inputs/inputs.ts'
import { isExactVersion, isPackageName } from '../../platform/inputs/packages.ts'
import { type ListArgs, readPage } from '../../platform/lists/filters.ts'
import * as store from './packages.store.ts'

export type PackagesDeps = { db: Db; audit: Audit; database: Pick<Database, 'run'> }
export type PackagesService = ReturnType<typeof createPackagesService>
export type PackageList = { packages: store.PiletPackage[]; count: number }
type Values = { description?: string | null | undefined; enabled?: boolean | null | undefined }

export const maxDescriptionLength = 1_000
const packageNotFound = (): AppError => notFound('package')

export const packageEvent = auditedEntity<store.PiletPackage>({
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
    updatedAt: 'ignored',
  },
  nameOf: ({ name, version }) => `${name} ${version}`,
  projectOf: ({ projectId }) => projectId,
})

export function createPackagesService({ db, audit, database }: PackagesDeps) {
  const pageAfter = (filter: store.PackageFilter, after: store.ListedPackage | null) =>
    store.readPackagesAfter(database.run, filter, after)

  /** What changes nothing leaves no trace. */
  const update = (actor: Actor, key: store.PackageKey, input: Values): Promise<store.PiletPackage> => {
    const values = changesOf(input)
    if (values.description !== undefined) checkText(values.description, 'description', maxDescriptionLength)
    return db.transaction(async (tx) => {
      const before = canExist(key) ? await store.lockPackage(tx, key) : undefined
      if (before === undefined) throw packageNotFound()
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
     * A project's packages by name and precedence, in pages, of which only the first may be empty. It is read before
     * this returns, so that most failures come before the response begins.
     */
    pages: async (filter: store.PackageFilter): Promise<AsyncIterable<readonly store.PiletPackage[]>> =>
      pagesFrom(await pageAfter(filter, null), (last) => pageAfter(filter, last)),

    /**
     * One page and how many there are on all pages; without filters, order and pagination all of them, charged while
     * they are read.
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
      const first = await pageAfter(filter, null)
      for await (const page of pagesFrom(first, (last) => pageAfter(filter, last))) {
        charge(page.reduce((bytes, one) => bytes + bytesOf(one), 0))
        packages.push(...page)
      }
      return { packages, count: packages.length }
    },

    find: async (key: store.PackageKey): Promise<store.PiletPackage> => {
      const found = canExist(key) ? await store.findPackage(db.read, key) : undefined
      if (found === undefined) throw packageNotFound()
      return found
    },

    /** What is needed to send a version's bytes; a disabled one has them too. */
    findBundle: async (key: store.PackageKey): Promise<store.StoredBundle> => {
      const found = canExist(key) ? await store.findBundle(db.read, key) : undefined
      if (found === undefined) throw packageNotFound()
      return found
    },
  }
}

const isPaged = ({ filters, order, pagination }: ListArgs): boolean =>
  (filters?.length ?? 0) > 0 || (order?.length ?? 0) > 0 || (pagination ?? null) !== null

/** What no upload takes is not looked for. */
const canExist = ({ name, version }: store.PackageKey): boolean =>
  isPackageName(name) && isExactVersion(version)

// What a row holds beside its texts.
const rowBytes = 250
const bytesOf = ({ name, version, description }: store.PiletPackage): number =>
  rowBytes + name.length + version.length + Buffer.byteLength(description)

/** This page and those after it; `next` reads the page after a package. */
async function* pagesFrom(
  first: store.ListedPackage[],
  next: (last: store.ListedPackage) => Promise<store.ListedPackage[]>,
): AsyncGenerator<readonly store.PiletPackage[]> {
  yield first
  let last = first.length < store.packagesPerPage ? undefined : first.at(-1)
  while (last !== undefined) {
    const page = await next(last)
    if (page.length > 0) yield page
    last = page.length < store.packagesPerPage ? undefined : page.at(-1)
  }
}
