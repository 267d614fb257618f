// This feature creates, lists and revokes personal access tokens, and identifies the owner of a presented
// token. proxy-auth/ serves the proxy. cli-login/ issues a token to a command-line client after a login.
import { type Config, selectSettings } from '../../config/config.ts'
import { readThrottleLimits } from '../../config/throttle-settings.ts'
import { defineFeature } from '../../feature.ts'
import type { Kdf } from '../../platform/credentials/kdf.ts'
import { readSdl } from '../../platform/graphql/schema.ts'
import type { Logger } from '../../platform/log/log.ts'
import { deriveSecretKey } from '../../platform/secrets/keys.ts'
import type { RetiredKeys } from '../../platform/master-key/retired-keys.ts'
import { type ThrottleDeps, createThrottle } from '../../platform/throttle/throttle.ts'
import { createAccessTokensResolvers } from './access-tokens.resolvers.ts'
import { type AccessTokensDeps, createAccessTokensService } from './access-tokens.service.ts'
import { accessTokenSettings } from './access-tokens.settings.ts'
import { type TokenIssuer, createTokenIssuer } from './issue-tokens.service.ts'
import { createLastUses } from './last-uses.service.ts'
import {
  type TokenLoginDeps,
  type TokenLoginService,
  createTokenLoginService,
} from './token-login.service.ts'

/** Authenticates presented tokens, and issues and revokes tokens for other features. */
export type AccessTokensApi = TokenLoginService & { issue: TokenIssuer }

type Deps = Omit<AccessTokensDeps, 'issue'> &
  Pick<TokenLoginDeps, 'database' | 'verifier' | 'metrics'> &
  ThrottleDeps & { config: Config; retiredKeys: RetiredKeys; log: Logger; kdf: Kdf }

export const accessTokens = defineFeature({
  name: 'accessTokens',
  sdl: readSdl(import.meta.url, './access-tokens.graphql'),
  settings: accessTokenSettings,
  constraints: {
    personal_access_tokens_token_prefix_key: ['unavailable', 'the new token was not unique; try again'],
  },
  create: (deps: Deps) => {
    const settings = selectSettings(deps.config, accessTokenSettings)
    const lastUses = createLastUses(deps)
    const forgeries = createThrottle('forgery', readThrottleLimits('forgery', settings), deps)
    const checkKey = deriveSecretKey(deps.config.masterKey, 'access-token-check')
    const retiredCheckKeys = deps.retiredKeys.checkKeys
    const issue = createTokenIssuer({ ...deps, checkKey })
    const login = createTokenLoginService({
      ...deps,
      checkKey,
      retiredCheckKeys,
      lastUses,
      forgeries,
    })
    return {
      resolvers: createAccessTokensResolvers(createAccessTokensService({ ...deps, issue })),
      close: async () => {
        await lastUses.close()
        await forgeries.close()
      },
      api: { ...login, issue } satisfies AccessTokensApi,
    }
  },
})
