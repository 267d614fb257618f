// This feature manages pilets, the packages from which a frontend is assembled. Versions are immutable and signed. This
// feature accepts, lists, returns and disables versions, and manages the signing keys. pilet-feed/ serves the feed for
// browsers.
import { type Config, selectSettings } from '../../config/config.ts'
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
import { createUploadsService, versionTakenMessage } from './uploads.service.ts'

/** Lets other features read the bytes of stored bundles. */
export type PiletsApi = {
  /**
   * Returns the bytes of a stored bundle for a response, verified against their hash. The first entry of
   * `owners` is the project.
   */
  holdBlob: HoldBlob
}

type Deps = SigningDeps &
  PackagesDeps &
  Omit<BlobCacheDeps, 'stores' | 'maxBytes'> & { config: Config; blobStores: BlobStores; metrics: Metrics }

const sweepEveryMs = 600_000

/**
 * Provides routes, GraphQL fields and the sweep of orphaned bytes. `create` throws if a memory setting is too small.
 */
export const pilets = defineFeature({
  name: 'pilets',
  role: 'api',
  sdl: readSdl(import.meta.url, './pilets.graphql'),
  settings: piletSettings,
  constraints: {
    pilet_packages_version_key: ['conflict', versionTakenMessage, 'version'],
    pilet_packages_project_fkey: ['not_found', 'project not found'],
    // The sweep removed the bytes before the row of their version had been written.
    pilet_packages_hash_fkey: ['unavailable', 'the stored bytes were removed concurrently; try again'],
  },
  sealedColumns: [privateKeyColumn],
  create: (deps: Deps) => {
    const settings = selectSettings(deps.config, piletSettings)
    const stores = deps.blobStores
    const blobs = createBlobs({ db: deps.db, stores })
    const { piletsMaxUploadBytes: maxUploadBytes, piletsUploadMemoryBytes, piletsSendMemoryBytes } = settings
    if (piletsUploadMemoryBytes < 2 * maxUploadBytes)
      throw new Error('pilets.upload_memory_bytes must be at least twice pilets.max_upload_bytes')
    if (piletsSendMemoryBytes < 2 * maxUploadBytes)
      throw new Error('pilets.send_memory_bytes must be at least twice pilets.max_upload_bytes')
    const readBlob = createBlobCache({ ...deps, stores, maxBytes: settings.piletsCacheBytes })
    const { hold: holdBlob, getBufferedBytes } = createBlobHolds({
      read: readBlob,
      maxBytes: piletsSendMemoryBytes,
      maxBlobBytes: maxUploadBytes,
    })
    const memory = createUploadMemory({ maxBytes: piletsUploadMemoryBytes, maxUploadBytes })
    const packages = createPackagesService(deps)
    const uploads = createUploadsService({
      ...deps,
      blobs,
      memory,
      metrics: createPiletMetrics(deps.metrics, {
        uploads: memory.getBufferedBytes,
        responses: getBufferedBytes,
      }),
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
