import type { Resolvers } from '../../generated/graphql.ts'
import type { AccessTokensService } from './access-tokens.service.ts'

/** Creates the GraphQL resolvers for personal access tokens. */
export function createAccessTokensResolvers(service: AccessTokensService) {
  return {
    Query: {
      myPersonalAccessTokens: (_parent, args, { actor }) => service.list(actor, args),
      expiringAccessTokens: (_parent, { days, ...args }, { actor }) =>
        service.listExpiring(actor, days, args),
      personalAccessTokens: (_parent, { first, after }, { actor }) =>
        service.page(actor, first ?? 100, after ?? ''),
    },
    Mutation: {
      createPersonalAccessToken: (_parent, { name, expiresAt }, { actor }) =>
        service.create(actor, name, expiresAt ?? null),
      revokePersonalAccessToken: (_parent, { id, expectedRevision }, { actor }) =>
        service.revoke(actor, id, expectedRevision),
      deletePersonalAccessToken: (_parent, { id, expectedRevision }, { actor }) =>
        service.delete(actor, id, expectedRevision),
    },
  } satisfies Resolvers
}
