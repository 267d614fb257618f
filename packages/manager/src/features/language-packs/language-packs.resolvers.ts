import type { Resolvers } from '../../generated/graphql.ts'
import { answerBudget } from '../../platform/graphql/answer-budget.ts'
import { load } from '../../platform/graphql/loaders.ts'
import type { LanguagePacksService } from './language-packs.service.ts'

/** GraphQL for language packs. Their contents are read only where they are requested. */
export function createLanguagePacksResolvers(service: LanguagePacksService) {
  return {
    Query: {
      languagePacks: (_parent, { project, ...args }) => service.list(project, args),
    },
    LanguagePack: {
      content: (pack, _args, context) => {
        answerBudget(context)(pack.contentBytes)
        return load(context, 'LanguagePack.content', pack.id, service.findContents)
      },
    },
    Mutation: {
      createLanguagePack: (_parent, { projectId, input }, { actor }) =>
        service.create(actor, projectId, input),
      updateLanguagePackContent: (_parent, { id, input }, { actor }) =>
        service.updateContent(actor, id, input),
      deleteLanguagePack: (_parent, { id }, { actor }) => service.delete(actor, id),
    },
  } satisfies Resolvers
}
