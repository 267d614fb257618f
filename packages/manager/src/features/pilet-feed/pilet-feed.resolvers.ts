import type { Resolvers } from '../../generated/graphql.ts'
import type { PreviewFeed } from './feed-preview.service.ts'
import type { FindPiletUsage } from './pilet-usage.service.ts'

/** Creates the GraphQL resolvers for the preview of a feed and for the use of pilets in settings. */
export function createPiletFeedResolvers(preview: PreviewFeed, findUsage: FindPiletUsage) {
  return {
    Query: {
      piletFeedPreview: (_parent, { applicationId, tenantId }) => preview(applicationId, tenantId ?? null),
      piletUsage: (_parent, { projectId, name }) => findUsage(projectId, name),
    },
  } satisfies Resolvers
}
