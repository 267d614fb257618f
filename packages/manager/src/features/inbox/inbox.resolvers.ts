import type { Resolvers } from '../../generated/graphql.ts'
import type { GraphqlContext } from '../../policy/guard-graphql.ts'
import { load } from '../../platform/graphql/loaders.ts'
import { createContentCharge } from '../../platform/graphql/response-budget.ts'
import type { Notification, OwnInboxesService } from './own-inboxes.service.ts'

type Part = Parameters<OwnInboxesService['findContents']>[0]

/** Creates the GraphQL resolvers for the caller's own notifications. Long texts are read only if they are requested. */
export function createInboxResolvers(service: OwnInboxesService) {
  const createContentResolver =
    (part: Part) =>
    async (notification: Notification, _args: object, context: GraphqlContext): Promise<string | null> => {
      const bytes = notification[`${part}Bytes`]
      if (bytes === null) return null
      createContentCharge(context)(bytes)
      return load(context, `Notification.${part}`, notification.id, (ids) => service.findContents(part, ids))
    }
  return {
    Query: {
      myNotifications: (_parent, args, { actor }) => service.page(actor, args),
      myUnreadNotifications: (_parent, _args, { actor }) => service.isUnread(actor),
    },
    Mutation: {
      markMyNotificationsRead: (_parent, args, { actor }) => service.markRead(actor, args),
    },
    Notification: {
      body: createContentResolver('body'),
      data: createContentResolver('data'),
    },
  } satisfies Resolvers
}
