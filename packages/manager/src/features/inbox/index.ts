// This feature lists and marks the notifications of users: one inbox by routes, and all inboxes of a user by GraphQL.
// notifications/ sends notifications, and live-sockets/ delivers hints, which are best-effort messages to open sockets.
import { commsSettings } from '../../config/comms-settings.ts'
import { type Config, selectSettings } from '../../config/config.ts'
import { defineFeature } from '../../feature.ts'
import { readSdl } from '../../platform/graphql/schema.ts'
import type { LiveSocketsApi } from '../live-sockets/index.ts'
import { createInboxResolvers } from './inbox.resolvers.ts'
import { registerInboxRoutes } from './inbox.routes.ts'
import { type InboxDeps, createInboxService } from './inbox.service.ts'
import { createOwnInboxesService } from './own-inboxes.service.ts'

type Deps = Pick<InboxDeps, 'database'> & { config: Config; liveSockets: LiveSocketsApi }

/** Provides the inbox routes and the GraphQL fields. Marks send a hint to the other sockets of the user. */
export const inbox = defineFeature({
  name: 'inbox',
  role: 'comms',
  sdl: readSdl(import.meta.url, './inbox.graphql'),
  create: ({ config, database, liveSockets }: Deps) => {
    const { commsRetentionDays: retentionDays } = selectSettings(config, commsSettings)
    const service = createInboxService({ database, retentionDays, sendHint: liveSockets.send })
    const ownInboxes = createOwnInboxesService({ database, retentionDays, inbox: service })
    return {
      resolvers: createInboxResolvers(ownInboxes),
      routes: (server) => registerInboxRoutes(server, service),
      api: {},
    }
  },
})
