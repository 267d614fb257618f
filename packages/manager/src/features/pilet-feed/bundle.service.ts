// Bundles as browsers load them. What is decided about an address is kept per version of the project, rejections too;
// the bytes are in the cache of all bundles, under their hash.
import type { HoldBlob, Holder } from '../../platform/blobs/blob-holds.ts'
import type { BlobRef } from '../../platform/blobs/blob-store.ts'
import { type Built, createVersionedCache } from '../../platform/cache/versioned-cache.ts'
import { createCoalesced } from '../../platform/postgres/coalesce.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import type { ReadProjectVersion } from '../../platform/postgres/project-version.ts'
import { AppError } from '../../platform/errors.ts'
import { parseUuid } from '../../platform/ids.ts'
import { isExactVersion, isPackageName, maxNameLength } from '../../platform/inputs/packages.ts'
import type { Metrics } from '../../platform/metrics.ts'
import { type BundleAddress, type BundleRow, readBundles } from './bundle.store.ts'

export type BundleDeps = {
  db: Db
  readVersion: ReadProjectVersion
  holdBlob: HoldBlob
  maxBytes: number
  metrics: Metrics
}
export type BundleService = ReturnType<typeof createBundleService>
/** The parts of an address as they came, decoded once. */
export type AskedBundle = { applicationId: string; projectId: string; name: string; version: string }
export type ServedBundle = {
  hash: string
  size: number
  contentType: string
  blob: BlobRef
  projectId: string
}
type Decided = Built & { bundle: ServedBundle | null }

/** The text of every rejection: it does not tell one from another. */
export const noPackage = 'Package not found'

const maxVersionLength = 256

export function createBundleService({ db, readVersion, holdBlob, maxBytes, metrics }: BundleDeps) {
  const readBundle = createCoalesced<BundleAddress, BundleRow>({
    keyOf: addressKey,
    run: (addresses) => readBundles(db.read, addresses),
  })
  const find = createVersionedCache<BundleAddress, Decided>({
    nameOf: addressKey,
    readVersion: (projectId) => readVersion(projectId, 'pilets'),
    maxBytes,
    onOutcome: metrics.cacheCounter('pilet_bundle'),
    build: async (address) => {
      // No package has such a name, and not every text can be asked for in the database.
      if (!isPackageName(address.name) || !isExactVersion(address.version)) return null
      const row = await readBundle(address)
      return row && decided(row, address)
    },
  })
  return {
    /** What is at the address; throws the same 404 whatever is wrong with it. */
    find: async (asked: AskedBundle): Promise<ServedBundle> => {
      const { name, version } = asked
      const [applicationId, projectId] = [parseUuid(asked.applicationId), parseUuid(asked.projectId)]
      const isShort = name.length <= maxNameLength && version.length <= maxVersionLength
      const kept =
        applicationId === null || projectId === null || !isShort
          ? null
          : await find({ applicationId, name, version })
      const bundle = kept?.bundle
      if (bundle?.projectId === projectId) return bundle
      throw new AppError('not_found', noPackage)
    },
    read: ({ blob, projectId }: ServedBundle, client: string, holder: Holder): Promise<Buffer> =>
      holdBlob(blob, [projectId, client], holder),
  }
}

// Neither a name nor a version that is ever looked for holds a space.
const addressKey = ({ applicationId, name, version }: BundleAddress): string =>
  `${applicationId} ${name} ${version}`

function decided({ projectId, version, found }: BundleRow, address: BundleAddress): Decided {
  const bytes = address.name.length + address.version.length
  if (found === null) return { projectId, version, bytes, bundle: null }
  const { hash, size, store, contentType } = found
  const blob = { sha256: hash, size, store }
  return { projectId, version, bytes, bundle: { hash, size, contentType, blob, projectId } }
}
