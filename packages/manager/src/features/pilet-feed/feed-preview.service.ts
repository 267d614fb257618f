// Returns a preview of a feed: the items that browsers load, and the reason for each version. The preview runs the same
// statement as the feed, but without the cache.
import { AppError, notFound } from '../../platform/errors.ts'
import { parseUuid } from '../../platform/ids.ts'
import { type FeedItem, createFeed } from './feed.pure.ts'
import type { FeedId, FeedRow } from './feed.store.ts'

/** An item of a feed, with null instead of a missing key. */
export type PreviewItem = Omit<FeedItem, 'keyId'> & { keyId: string | null; origin: 'pin' | 'highest' }
export type PreviewFeed = ReturnType<typeof createFeedPreview>

/** Returns a function that reads the feed of an application in a tenant, or for all tenants if `tenantId` is null. */
export const createFeedPreview =
  (readFeed: (feedId: FeedId) => Promise<FeedRow | null>) =>
  async (applicationId: string, tenantId: string | null): Promise<PreviewItem[]> => {
    const feedId = { applicationId, tenantId: tenantId === null ? null : parseUuid(tenantId) }
    const isMalformed = tenantId !== null && feedId.tenantId === null
    const row = isMalformed ? null : await readFeed(feedId)
    if (tenantId === null && row === null) throw notFound('application')
    if (row === null || row.items === null)
      throw new AppError('not_found', 'the application is not enabled for this tenant')
    const { projectId, items: packages } = row
    const { items } = createFeed({ applicationId, projectId }, packages)
    return items.map((item, index) => ({
      ...item,
      keyId: item.keyId ?? null,
      origin: packages[index]?.isPinned === true ? 'pin' : 'highest',
    }))
  }
