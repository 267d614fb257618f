// Language packs: a project's texts by locale, as developers edit them and as frontends load them.
import type { Feature } from '../../feature.ts'
import { readSdl } from '../../platform/graphql/schema.ts'
import { createLanguagePacksResolvers } from './language-packs.resolvers.ts'
import { registerLanguagePackRoutes } from './language-packs.routes.ts'
import { type LanguagePacksDeps, createLanguagePacksService } from './language-packs.service.ts'
import { type ServedPacksDeps, createServedPacks } from './served-packs.service.ts'

export function createLanguagePacks(deps: LanguagePacksDeps & ServedPacksDeps): Feature {
  const findPack = createServedPacks(deps)
  return {
    name: 'language-packs',
    role: 'api',
    sdl: readSdl('./language-packs.graphql', import.meta.url),
    resolvers: createLanguagePacksResolvers(createLanguagePacksService(deps)),
    routes: (server) => registerLanguagePackRoutes(server, findPack),
    constraints: {
      language_packs_project_id_name_key: [
        'conflict',
        'a language pack for this locale exists already in the project',
      ],
      language_packs_project_fkey: ['not_found', 'project not found'],
    },
    api: {},
  }
}
