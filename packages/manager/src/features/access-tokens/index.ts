// Personal access tokens: making, listing and ending them, and telling who a presented one belongs to. Answers to the
// proxy about them are not here (proxy-auth/), nor is the login that mints one for a command-line client (cli-login/).
import type { Feature } from '../../feature.ts'
import { readSdl } from '../../platform/graphql/schema.ts'
import type { Logger } from '../../platform/log.ts'
import type { UsersApi } from '../users/index.ts'
import { createAccessTokensResolvers } from './access-tokens.resolvers.ts'
import { type AccessTokensDeps, createAccessTokensService } from './access-tokens.service.ts'
import { createLastUses } from './last-uses.service.ts'
import {
  type TokenLoginDeps,
  type TokenLoginService,
  createTokenLoginService,
} from './token-login.service.ts'

export type AccessTokensApi = TokenLoginService

export type Deps = AccessTokensDeps & Omit<TokenLoginDeps, 'lastUses'> & { users: UsersApi; log: Logger }

export function createAccessTokens(deps: Deps): Feature<AccessTokensApi> {
  const lastUses = createLastUses(deps)
  return {
    name: 'access-tokens',
    sdl: readSdl('./access-tokens.graphql', import.meta.url),
    resolvers: createAccessTokensResolvers(createAccessTokensService(deps), deps.users),
    constraints: {
      personal_access_tokens_token_prefix_key: ['unavailable', 'the new token was not unique; try again'],
    },
    close: () => lastUses.close(),
    api: createTokenLoginService({ ...deps, lastUses }),
  }
}
