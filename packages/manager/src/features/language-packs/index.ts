// This feature manages language packs, which contain the translations of a project by locale. Developers edit
// language packs through GraphQL, and frontends load them.
import type { Config } from '../../config/config.ts'
import { defineFeature } from '../../feature.ts'
import { readSdl } from '../../platform/graphql/schema.ts'
import { createIdFinder } from '../../policy/scopes.ts'
import { createLanguagePacksResolvers } from './language-packs.resolvers.ts'
import { registerLanguagePackRoutes } from './language-packs.routes.ts'
import { type LanguagePacksDeps, createLanguagePacksService } from './language-packs.service.ts'
import { createPackKeysSetter } from './pack-keys.service.ts'
import { type ServedPackDeps, createServedPackFinder } from './served-packs.service.ts'

type Deps = LanguagePacksDeps & Omit<ServedPackDeps, 'maxBytes'> & { config: Config }

/** Provides the GraphQL fields for developers and the route that serves cached packs to frontends. */
export const languagePacks = defineFeature({
  name: 'languagePacks',
  role: 'api',
  sdl: readSdl(import.meta.url, './language-packs.graphql'),
  scopes: {
    LANGUAGE_PACK: {
      noun: 'language pack',
      view: 'LANGUAGE_PACK_READ',
      find: createIdFinder('language_packs'),
    },
  },
  constraints: {
    language_packs_project_id_name_key: [
      'conflict',
      'the project already has a language pack for this locale',
      'input.name',
    ],
    language_packs_project_fkey: ['not_found', 'project not found'],
  },
  create: (deps: Deps) => {
    const findPack = createServedPackFinder({ ...deps, maxBytes: deps.config.cacheMaxBytes })
    return {
      resolvers: createLanguagePacksResolvers(createLanguagePacksService(deps), createPackKeysSetter(deps)),
      routes: (server) => registerLanguagePackRoutes(server, findPack),
      api: {},
    }
  },
})
