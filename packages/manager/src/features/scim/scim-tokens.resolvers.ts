import type { Resolvers } from '../../generated/graphql.ts'
import type { ScimTokensService } from './scim-tokens.service.ts'

/** Creates the GraphQL resolvers for the tokens of identity providers. */
export const createScimTokensResolvers = (service: ScimTokensService) =>
  ({
    Query: { scimTokens: (_parent, args) => service.list(args) },
    Mutation: {
      createScimToken: (_parent, { name, expiresAt }, { actor }) =>
        service.create(actor, name, expiresAt ?? null),
      revokeScimToken: (_parent, token, { actor }) => service.revoke(actor, token),
    },
  }) satisfies Resolvers
