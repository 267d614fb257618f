// This service finds the bundles that browsers load. Decisions about addresses, including rejections, are cached per
// project version. The bytes are in the shared bundle cache, keyed by their hash.
import type { HoldBlob, Holder } from '../../platform/blobs/blob-holds.ts'
import type { BlobRef } from '../../platform/blobs/blob-store.ts'
import { type BuiltValue, createVersionedCache } from '../../platform/cache/versioned-cache.ts'
import { createCoalescer } from '../../platform/postgres/coalesce.ts'
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
/** The path parameters of a bundle request, decoded once. */
export type BundleRequest = { applicationId: string; projectId: string; name: string; version: string }
export type ServedBundle = {
  hash: string
  size: number
  contentType: string
  blob: BlobRef
  projectId: string
}
type Decision = BuiltValue & { bundle: ServedBundle | null }

/** All rejections have this message, so that a client cannot distinguish the reasons. */
export const packageNotFound = 'Package not found'

const maxVersionLength = 256

export function createBundleService({ db, readVersion, holdBlob, maxBytes, metrics }: BundleDeps) {
  const readBundle = createCoalescer<BundleAddress, BundleRow>({
    getKey: formatAddressKey,
    run: (addresses) => readBundles(db.read, addresses),
  })
  const find = createVersionedCache<BundleAddress, Decision>({
    nameOf: formatAddressKey,
    readVersion: (projectId) => readVersion(projectId, 'pilets'),
    maxBytes,
    onOutcome: metrics.cacheCounter('pilet_bundle'),
    build: async (address) => {
      // Invalid names match no package, and PostgreSQL does not accept every string as a parameter.
      if (!isPackageName(address.name) || !isExactVersion(address.version)) return null
      const row = await readBundle(address)
      return row && createDecision(row, address)
    },
  })
  return {
    /** Returns the bundle at the address. Throws the same 404 for every kind of mismatch. */
    find: async (request: BundleRequest): Promise<ServedBundle> => {
      const { name, version } = request
      const [applicationId, projectId] = [parseUuid(request.applicationId), parseUuid(request.projectId)]
      const isShort = name.length <= maxNameLength && version.length <= maxVersionLength
      const decision =
        applicationId === null || projectId === null || !isShort
          ? null
          : await find({ applicationId, name, version })
      const bundle = decision?.bundle
      if (bundle?.projectId === projectId) return bundle
      throw new AppError('not_found', packageNotFound)
    },
    read: ({ blob, projectId }: ServedBundle, client: string, holder: Holder): Promise<Buffer> =>
      holdBlob(blob, [projectId, client], holder),
  }
}

// Spaces are safe separators, because names and versions that are looked up contain none.
const formatAddressKey = ({ applicationId, name, version }: BundleAddress): string =>
  `${applicationId} ${name} ${version}`

function createDecision({ projectId, version, found }: BundleRow, address: BundleAddress): Decision {
  const bytes = address.name.length + address.version.length
  if (found === null) return { projectId, version, bytes, bundle: null }
  const { hash, size, store, contentType } = found
  const blob = { sha256: hash, size, store }
  return { projectId, version, bytes, bundle: { hash, size, contentType, blob, projectId } }
}
