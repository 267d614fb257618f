// This feature serves the console, a browser application for people. Its sources are in packages/console.
// The console uses the same routes as every other client, so this feature has no data and no permissions.
import { type Config, selectSettings } from '../../config/config.ts'
import { defineFeature } from '../../feature.ts'
import { readConsoleBuild } from './build.service.ts'
import { registerConsoleRoutes } from './console.routes.ts'
import { consoleSettings } from './console.settings.ts'

type Deps = { config: Config; consoleFolder: string }

export const consoleApp = defineFeature({
  name: 'console',
  role: 'api',
  settings: consoleSettings,
  create: ({ config, consoleFolder }: Deps) => ({
    routes: (server) => {
      if (selectSettings(config, consoleSettings).consoleEnabled)
        registerConsoleRoutes(server, readConsoleBuild(consoleFolder))
    },
    api: {},
  }),
})
