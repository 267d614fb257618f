// Inboxes: how people read their notifications and mark them. Sending them is not here (notifications/), nor are the
// sockets that get hints (live-sockets/).
import { commsSettings } from '../../config/comms-settings.ts'
import { type Config, settingsOf } from '../../config/config.ts'
import { defineFeature } from '../../feature.ts'
import type { LiveSocketsApi } from '../live-sockets/index.ts'
import { registerInboxRoutes } from './inbox.routes.ts'
import { type InboxDeps, createInboxService } from './inbox.service.ts'

type Deps = Pick<InboxDeps, 'database'> & { config: Config; liveSockets: LiveSocketsApi }

export const inbox = defineFeature({
  name: 'inbox',
  role: 'comms',
  create: ({ config, database, liveSockets }: Deps) => {
    const { commsRetentionDays: retentionDays } = settingsOf(config, commsSettings)
    const service = createInboxService({ database, retentionDays, sendHint: liveSockets.send })
    return { routes: (server) => registerInboxRoutes(server, service), api: {} }
  },
})
