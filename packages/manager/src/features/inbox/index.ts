// This feature provides the routes that users call to list and mark their notifications. notifications/ sends
// notifications, and live-sockets/ delivers hints, which are best-effort messages to open sockets.
import { commsSettings } from '../../config/comms-settings.ts'
import { type Config, selectSettings } from '../../config/config.ts'
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
    const { commsRetentionDays: retentionDays } = selectSettings(config, commsSettings)
    const service = createInboxService({ database, retentionDays, sendHint: liveSockets.send })
    return { routes: (server) => registerInboxRoutes(server, service), api: {} }
  },
})
