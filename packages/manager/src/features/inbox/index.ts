// This feature provides the routes with which users list their notifications and mark them. notifications/ sends
// notifications, and live-sockets/ delivers the hints, which are messages to open sockets that may be lost.
import { commsSettings } from '../../config/comms-settings.ts'
import { type Config, settingsOf } from '../../config/config.ts'
import { defineFeature } from '../../feature.ts'
import type { LiveSocketsApi } from '../live-sockets/index.ts'
import { registerInboxRoutes } from './inbox.routes.ts'
import { type InboxDeps, createInboxService } from './inbox.service.ts'

type Deps = Pick<InboxDeps, 'database'> & { config: Config; liveSockets: LiveSocketsApi }

/** Provides the inbox routes. Marks send a hint to the other sockets of the user. */
export const inbox = defineFeature({
  name: 'inbox',
  role: 'comms',
  create: ({ config, database, liveSockets }: Deps) => {
    const { commsRetentionDays: retentionDays } = settingsOf(config, commsSettings)
    const service = createInboxService({ database, retentionDays, sendHint: liveSockets.send })
    return { routes: (server) => registerInboxRoutes(server, service), api: {} }
  },
})
