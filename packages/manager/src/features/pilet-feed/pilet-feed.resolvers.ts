import type { Resolvers } from '../../generated/graphql.ts'
import type { PreviewFeed } from './feed-preview.service.ts'

/** Creates the GraphQL resolver for the preview of a feed. */
export function createPiletFeedResolvers(preview: PreviewFeed) {
  return {
    Query: {
      piletFeedPreview: (_parent, { applicationId, tenantId }) => preview(applicationId, tenantId ?? null),
    },
  } satisfies Resolvers
}
