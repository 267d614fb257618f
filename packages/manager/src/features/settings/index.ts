// Settings: what each layer sets, the cascade that merges the layers, and the configuration a frontend loads. The packs
// of texts a frontend loads are not here (language-packs/).
import type { Feature } from '../../feature.ts'
import { createBatched } from '../../platform/db/batched.ts'
import type { Database, PreparedStatement } from '../../platform/db/database.ts'
import { readSdl } from '../../platform/graphql/schema.ts'
import type { Tenant2ApplicationsApi } from '../applications/index.ts'
import { registerFrontendConfigRoutes } from './frontend-config.routes.ts'
import { type FrontendConfigDeps, createFrontendConfigService } from './frontend-config.service.ts'
import { type Place, type PlaceRow, placeKey, readPlaces, servedLayers, wholeLayers } from './layers.store.ts'
import { createSettingsReads } from './settings-reads.service.ts'
import { createSettingsResolvers } from './settings.resolvers.ts'
import { type SettingsDeps, createSettingsService } from './settings.service.ts'

// A place may bring megabytes with it.
const maxPlacesAtOnce = 16

export type Deps = SettingsDeps &
  Omit<FrontendConfigDeps, 'readServed'> & {
    database: Database
    tenant2Applications: Tenant2ApplicationsApi
  }

export function createSettings(deps: Deps): Feature {
  const readerOf = (statement: PreparedStatement) =>
    createBatched<Place, PlaceRow>({
      keyOf: placeKey,
      run: (places) => readPlaces(deps.database.readContent, statement, places),
      maxBatch: maxPlacesAtOnce,
    })
  const configs = createFrontendConfigService({ ...deps, readServed: readerOf(servedLayers) })
  return {
    name: 'settings',
    role: 'api',
    sdl: readSdl('./settings.graphql', import.meta.url),
    resolvers: createSettingsResolvers(
      createSettingsService(deps),
      createSettingsReads({ ...deps, readWhole: readerOf(wholeLayers) }),
      deps.tenant2Applications,
    ),
    routes: (server) => registerFrontendConfigRoutes(server, configs),
    api: {},
  }
}
