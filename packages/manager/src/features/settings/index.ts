// Settings: what each layer sets, the cascade that merges the layers, and the configuration a frontend loads. The packs
// of texts a frontend loads are not here (language-packs/).
import type { Feature } from '../../feature.ts'
import { createBatchedRead } from '../../platform/db/batched-read.ts'
import type { Database } from '../../platform/db/database.ts'
import { readSdl } from '../../platform/graphql/schema.ts'
import { prepareJson } from '../../platform/http/prepared.ts'
import type { Tenant2ApplicationsApi } from '../applications/index.ts'
import { registerFrontendConfigRoutes } from './frontend-config.routes.ts'
import { type FrontendConfigDeps, createFrontendConfigService } from './frontend-config.service.ts'
import { type Place, type PlaceRow, readPlaces } from './layers.store.ts'
import { createSettingsReads } from './settings-reads.service.ts'
import { createSettingsResolvers } from './settings.resolvers.ts'
import { type SettingsDeps, createSettingsService } from './settings.service.ts'

// A place may bring megabytes with it.
const maxPlacesAtOnce = 32

export type Deps = SettingsDeps &
  Omit<FrontendConfigDeps, 'readPlace' | 'prepare'> & {
    database: Database
    tenant2Applications: Tenant2ApplicationsApi
  }

export function createSettings(deps: Deps): Feature {
  const readPlace = createBatchedRead<Place, PlaceRow>({
    keyOf: ({ applicationId, tenantId }) => `${applicationId} ${tenantId}`,
    read: (places) => readPlaces(deps.database.read, places),
    maxBatch: maxPlacesAtOnce,
  })
  const configs = createFrontendConfigService({ ...deps, readPlace, prepare: prepareJson })
  return {
    name: 'settings',
    role: 'api',
    sdl: readSdl('./settings.graphql', import.meta.url),
    resolvers: createSettingsResolvers(
      createSettingsService(deps),
      createSettingsReads({ ...deps, readPlace }),
      deps.tenant2Applications,
    ),
    routes: (server) => registerFrontendConfigRoutes(server, configs),
    api: {},
  }
}
