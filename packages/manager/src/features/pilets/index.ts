// Pilets: the packages a frontend is assembled from. Versions are immutable and signed; this feature takes them in, lists,
// returns and disables them, and keeps the keys that sign. What browsers load of them is not here (pilet-feed/).
import { type Config, settingsOf } from '../../config/config.ts'
import { defineFeature } from '../../feature.ts'
import { type BlobCacheDeps, createBlobCache } from '../../platform/blobs/blob-cache.ts'
import { type HoldBlob, createBlobHolds } from '../../platform/blobs/blob-holds.ts'
import type { BlobStores } from '../../platform/blobs/blob-store.ts'
import { createBlobs } from '../../platform/blobs/blobs.ts'
import { readSdl } from '../../platform/graphql/schema.ts'
import type { Metrics } from '../../platform/metrics.ts'
import { type PackagesDeps, createPackagesService } from './packages.service.ts'
import { createPiletMetrics } from './pilets.metrics.ts'
import { createPiletsResolvers } from './pilets.resolvers.ts'
import { registerPiletRoutes } from './pilets.routes.ts'
import { piletSettings } from './pilets.settings.ts'
import { type SigningDeps, createSigning } from './signing.service.ts'
import { privateKeyColumn } from './signing.store.ts'
import { createUploadMemory } from './upload-memory.service.ts'
import { createUploadsService, versionTaken } from './uploads.service.ts'

export type PiletsApi = {
  /** The bytes of a stored bundle, compared with its hash, for a response; `owner` is the project. */
  holdBlob: HoldBlob
}

type Deps = SigningDeps &
  PackagesDeps &
  Omit<BlobCacheDeps, 'stores' | 'maxBytes'> & { config: Config; blobStores: BlobStores; metrics: Metrics }

const sweepEveryMs = 600_000

export const pilets = defineFeature({
  name: 'pilets',
  role: 'api',
  sdl: readSdl(import.meta.url, './pilets.graphql'),
  settings: piletSettings,
  constraints: {
    pilet_packages_version_key: ['conflict', versionTaken],
    pilet_packages_project_fkey: ['not_found', 'project not found'],
    // Bytes that waited for their version too long.
    pilet_packages_hash_fkey: ['unavailable', 'the stored bytes were removed meanwhile; try again'],
  },
  sealedColumns: [privateKeyColumn],
  create: (deps: Deps) => {
    const settings = settingsOf(deps.config, piletSettings)
    const stores = deps.blobStores
    const blobs = createBlobs({ db: deps.db, stores })
    const { piletsMaxUploadBytes: maxUploadBytes, piletsUploadMemoryBytes, piletsSendMemoryBytes } = settings
    if (piletsUploadMemoryBytes < 2 * maxUploadBytes)
      throw new Error('pilets.upload_memory_bytes must be at least twice pilets.max_upload_bytes')
    if (piletsSendMemoryBytes < 2 * maxUploadBytes)
      throw new Error('pilets.send_memory_bytes must be at least twice pilets.max_upload_bytes')
    const read = createBlobCache({ ...deps, stores, maxBytes: settings.piletsCacheBytes })
    const { hold: holdBlob, bufferedBytes } = createBlobHolds({
      read,
      maxBytes: piletsSendMemoryBytes,
      maxBlobBytes: maxUploadBytes,
    })
    const memory = createUploadMemory({ maxBytes: piletsUploadMemoryBytes, maxUploadBytes })
    const packages = createPackagesService(deps)
    const uploads = createUploadsService({
      ...deps,
      blobs,
      memory,
      metrics: createPiletMetrics(deps.metrics, { uploads: memory.bufferedBytes, responses: bufferedBytes }),
      sign: createSigning(deps).sign,
      quota: { packages: settings.piletsMaxProjectPackages, bytes: settings.piletsMaxProjectBytes },
    })
    const api: PiletsApi = { holdBlob }
    return {
      resolvers: createPiletsResolvers(packages),
      routes: (server) => registerPiletRoutes(server, { packages, uploads, holdBlob, maxUploadBytes }),
      schedules: [
        {
          name: 'blobs-sweep',
          everyMs: sweepEveryMs,
          atStart: true,
          run: async (signal) => void (await blobs.sweep(settings.piletsOrphanGraceMs, signal)),
        },
      ],
      api,
    }
  },
})
