import type { Resolvers } from '../../generated/graphql.ts'
import { batchedRow } from '../../platform/graphql/batch.ts'
import type { UsersApi } from '../users/index.ts'
import type { AccessTokensService } from './access-tokens.service.ts'

/** GraphQL for personal access tokens. */
export function createAccessTokensResolvers(service: AccessTokensService, users: UsersApi) {
  return {
    Query: {
      myPersonalAccessTokens: (_parent, args, { actor }) => service.list(actor, args),
      personalAccessTokens: (_parent, { first, after }, { actor }) =>
        service.page(actor, first ?? 100, after ?? ''),
    },
    PersonalAccessTokenConnection: {
      totalCount: (_parent, _args, { actor }) => service.count(actor),
    },
    PersonalAccessToken: {
      user: (token, _args, context) => batchedRow(context, 'user', token.userId, users.findMany),
    },
    Mutation: {
      createPersonalAccessToken: (_parent, { name, expiresAt }, { actor }) =>
        service.create(actor, name, expiresAt ?? null),
      revokePersonalAccessToken: (_parent, { id }, { actor }) => service.revoke(actor, id),
      deletePersonalAccessToken: (_parent, { id }, { actor }) => service.delete(actor, id),
    },
  } satisfies Resolvers
}
