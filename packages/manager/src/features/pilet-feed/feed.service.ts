// The feed of a frontend as bytes, made once per version of what it is made of.
import { type EncodedJson, encodeJson, yieldToEventLoop } from '../../platform/cache/encoded-json.ts'
import { createServedPlaces } from '../../platform/cache/served-places.ts'
import { type Built, createVersionedCache } from '../../platform/cache/versioned-cache.ts'
import { createCoalesced } from '../../platform/postgres/coalesce.ts'
import type { Database } from '../../platform/postgres/database.ts'
import type { ReadProjectVersion } from '../../platform/postgres/project-version.ts'
import type { Metrics } from '../../platform/metrics.ts'
import { type FeedPlace, type FeedRow, placeKey, readFeeds } from './feed.store.ts'
import { feedOf } from './feed.pure.ts'

export type FeedDeps = {
  database: Database
  readVersion: ReadProjectVersion
  maxBytes: number
  metrics: Metrics
}
export type FeedService = ReturnType<typeof createFeedService>

// A feed may bring nearly a megabyte with it.
const maxPlacesAtOnce = 16

/** The feed of an application in a tenant, or for all tenants; throws 404 where it is not enabled. */
export function createFeedService({ database, readVersion, maxBytes, metrics }: FeedDeps) {
  const readFeed = createCoalesced<FeedPlace, FeedRow>({
    keyOf: placeKey,
    run: (places) => readFeeds(database.run, places),
    maxBatch: maxPlacesAtOnce,
  })
  const find = createVersionedCache<FeedPlace, Built & { answer: EncodedJson | null }>({
    nameOf: placeKey,
    readVersion: (projectId) => readVersion(projectId, 'pilets'),
    maxBytes,
    onOutcome: metrics.cacheCounter('pilet_feed'),
    build: async (place) => {
      const row = await readFeed(place)
      if (row === null) return null
      await yieldToEventLoop()
      const { projectId, version, items } = row
      const answer = items && encodeJson(feedOf({ applicationId: place.applicationId, projectId }, items))
      return { projectId, version, answer, bytes: answer?.length ?? 0 }
    },
  })
  return createServedPlaces(find)
}
