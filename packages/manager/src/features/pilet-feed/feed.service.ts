// This service returns encoded feeds. A feed is built once per version of the project's pilets.
import { type EncodedJson, encodeJson, yieldToEventLoop } from '../../platform/cache/encoded-json.ts'
import { createServedResponses } from '../../platform/cache/served-responses.ts'
import { type BuiltValue, createVersionedCache } from '../../platform/cache/versioned-cache.ts'
import { createCoalescer } from '../../platform/postgres/coalesce.ts'
import type { Database } from '../../platform/postgres/database.ts'
import type { ReadProjectVersion } from '../../platform/postgres/project-version.ts'
import type { Metrics } from '../../platform/metrics.ts'
import { type FeedId, type FeedRow, formatFeedKey, readFeeds } from './feed.store.ts'
import { createFeedPreview } from './feed-preview.service.ts'
import { createFeed } from './feed.pure.ts'

export type FeedDeps = {
  database: Database
  readVersion: ReadProjectVersion
  maxBytes: number
  metrics: Metrics
}
export type FeedService = ReturnType<typeof createFeedService>

// A feed can be nearly 1 MB in size, which limits the size of a batch.
const maxFeedsPerBatch = 16

/**
 * Creates lookups of the feed of an application in a tenant or for all tenants, encoded or as a preview. They throw
 * 404 if the application is not enabled.
 */
export function createFeedService({ database, readVersion, maxBytes, metrics }: FeedDeps) {
  const readFeed = createCoalescer<FeedId, FeedRow>({
    getKey: formatFeedKey,
    run: (feedIds) => readFeeds(database.run, feedIds),
    maxBatch: maxFeedsPerBatch,
  })
  const find = createVersionedCache<FeedId, BuiltValue & { answer: EncodedJson | null }>({
    nameOf: formatFeedKey,
    readVersion: (projectId) => readVersion(projectId, 'pilets'),
    maxBytes,
    onOutcome: metrics.cacheCounter('pilet_feed'),
    build: async (feedId) => {
      const row = await readFeed(feedId)
      if (row === null) return null
      await yieldToEventLoop()
      const { projectId, version, items } = row
      const answer =
        items && encodeJson(createFeed({ applicationId: feedId.applicationId, projectId }, items))
      return { projectId, version, answer, bytes: answer?.length ?? 0 }
    },
  })
  return { ...createServedResponses(find), preview: createFeedPreview(readFeed) }
}
