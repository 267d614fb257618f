import type { Resolvers } from '../../generated/graphql.ts'
import type { NotificationCountsService } from './notification-counts.service.ts'

/** Creates the GraphQL resolvers for the counts. */
export const createNotificationCountsResolvers = (service: NotificationCountsService) =>
  ({
    Query: {
      notificationDeliveryCounts: (_parent, { applicationId, ...bounds }) =>
        service.list(applicationId, bounds),
    },
  }) satisfies Resolvers
