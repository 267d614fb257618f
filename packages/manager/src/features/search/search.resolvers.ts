import type { Resolvers } from '../../generated/graphql.ts'
import type { SearchService } from './search.service.ts'

export function createSearchResolvers(service: SearchService) {
  return {
    Query: {
      search: (_parent, args, { actor }) => service.search(actor, args),
    },
  } satisfies Resolvers
}
