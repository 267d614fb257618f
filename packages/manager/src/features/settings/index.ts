// This feature manages settings: the values of each layer, the cascade that merges the layers, and the
// configuration that a frontend loads. language-packs/ manages translations.
import type { Config } from '../../config/config.ts'
import { defineFeature } from '../../feature.ts'
import { createCoalescer } from '../../platform/postgres/coalesce.ts'
import type { Database } from '../../platform/postgres/database.ts'
import type { PreparedStatement } from '../../platform/postgres/prepared.ts'
import { readSdl } from '../../platform/graphql/schema.ts'
import { createIdFinder } from '../../policy/scopes.ts'
import type { ApplicationsApi } from '../applications/index.ts'
import { registerFrontendConfigRoutes } from './frontend-config.routes.ts'
import { type FrontendConfigDeps, createFrontendConfigService } from './frontend-config.service.ts'
import {
  type LayersId,
  type LayersRow,
  formatLayersKey,
  readLayers,
  servedLayers,
  completeLayers,
} from './layers.store.ts'
import { createSettingsKeysService } from './settings-keys.service.ts'
import { createSettingsReads } from './settings-reads.service.ts'
import { createSettingsResolvers } from './settings.resolvers.ts'
import { type SettingsDeps, createSettingsService } from './settings.service.ts'
import { findOwnerTarget } from './settings.store.ts'

// The layers for one application in one tenant can total several megabytes, which limits the size of a batch.
const maxReadsPerBatch = 16

type Deps = SettingsDeps &
  Omit<FrontendConfigDeps, 'readServed' | 'maxBytes'> & {
    config: Config
    database: Database
    applications: ApplicationsApi
  }

/** Provides the GraphQL fields for settings and the routes for the frontend configuration. */
export const settings = defineFeature({
  name: 'settings',
  role: 'api',
  sdl: readSdl(import.meta.url, './settings.graphql'),
  scopes: {
    SETTINGS: {
      noun: 'settings',
      view: 'SETTINGS_READ',
      find: createIdFinder('settings', { tenant: 'tenant_id', application: 'application_id' }),
    },
    SETTINGS_OWNER: { noun: 'settings', view: 'SETTINGS_READ', find: findOwnerTarget },
  },
  create: (deps: Deps) => {
    const createLayersReader = (statement: PreparedStatement) =>
      createCoalescer<LayersId, LayersRow>({
        getKey: formatLayersKey,
        run: (ids) => readLayers(deps.database.run, statement, ids),
        maxBatch: maxReadsPerBatch,
      })
    const configs = createFrontendConfigService({
      ...deps,
      maxBytes: deps.config.cacheMaxBytes,
      readServed: createLayersReader(servedLayers),
    })
    return {
      resolvers: createSettingsResolvers(
        createSettingsService(deps),
        createSettingsKeysService(deps),
        createSettingsReads({ ...deps, readCompleteLayers: createLayersReader(completeLayers) }),
        deps.applications,
      ),
      routes: (server) => registerFrontendConfigRoutes(server, configs),
      api: {},
    }
  },
})
