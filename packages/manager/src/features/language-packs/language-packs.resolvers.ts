import type { Resolvers } from '../../generated/graphql.ts'
import { createContentCharge } from '../../platform/graphql/response-budget.ts'
import { load, loadRow } from '../../platform/graphql/loaders.ts'
import type { LanguagePacksService } from './language-packs.service.ts'
import type { SetPackKeys } from './pack-keys.service.ts'

/**
 * Creates the GraphQL resolvers for language packs. The content of a pack can be large, so it is loaded only if
 * requested.
 */
export function createLanguagePacksResolvers(service: LanguagePacksService, setKeys: SetPackKeys) {
  return {
    Query: {
      languagePacks: (_parent, { project, ...args }) => service.list(project, args),
      languagePack: (_parent, { id }, context) => loadRow(context, 'language pack', id, service.findMany),
    },
    LanguagePack: {
      content: (pack, _args, context) => {
        createContentCharge(context)(pack.contentBytes)
        return load(context, 'LanguagePack.content', pack.id, service.findContents)
      },
    },
    Mutation: {
      createLanguagePack: (_parent, { projectId, input }, { actor }) =>
        service.create(actor, projectId, input),
      setLanguagePackKeys: (_parent, { projectId, changes }, { actor }) => setKeys(actor, projectId, changes),
      updateLanguagePackContent: (_parent, { id, input }, { actor }) =>
        service.updateContent(actor, id, input),
      deleteLanguagePack: (_parent, { id, expectedRevision }, { actor }) =>
        service.delete(actor, id, expectedRevision),
    },
  } satisfies Resolvers
}
