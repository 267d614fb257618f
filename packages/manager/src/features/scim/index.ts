// This feature lets identity providers create, change and deactivate people with SCIM 2.0, and send their groups. It manages the
// tokens with which they do so. users/ stores the people and decides who is active; groups/ stores the groups.
import type { KeyObject } from 'node:crypto'
import { type Config, selectSettings } from '../../config/config.ts'
import { defineFeature } from '../../feature.ts'
import { readSdl } from '../../platform/graphql/schema.ts'
import type { RetiredKeys } from '../../platform/master-key/retired-keys.ts'
import type { Metrics } from '../../platform/metrics.ts'
import { deriveSecretKey } from '../../platform/secrets/keys.ts'
import type { Audit } from '../../platform/audit/append.ts'
import { createScimAppend } from './scim-changes.service.ts'
import { createScimGroupsSearchService } from './scim-groups-search.service.ts'
import { type ScimGroupsDeps, createScimGroupsService } from './scim-groups.service.ts'
import { type ScimLoginDeps, type ScimLoginService, createScimLoginService } from './scim-login.service.ts'
import { createScimSearchService } from './scim-search.service.ts'
import { createScimTokensResolvers } from './scim-tokens.resolvers.ts'
import { type ScimTokensDeps, createScimTokensService } from './scim-tokens.service.ts'
import { type ScimUsersDeps, createScimUsersService } from './scim-users.service.ts'
import { createScimMetrics } from './scim.metrics.ts'
import { registerScimRoutes } from './scim.routes.ts'
import { scimSettings } from './scim.settings.ts'

/** Identifies identity providers by their tokens. */
type ScimApi = Pick<ScimLoginService, 'authenticate'>

type Deps = Omit<ScimTokensDeps, 'checkKey'> &
  Omit<ScimLoginDeps, 'checkKeys' | 'metrics'> &
  Pick<ScimUsersDeps, 'users'> &
  Pick<ScimGroupsDeps, 'groups'> & {
    audit: Audit
    config: Config
    metrics: Metrics
    retiredKeys: RetiredKeys
  }

export const scim = defineFeature({
  name: 'scim',
  role: 'api',
  sdl: readSdl(import.meta.url, './scim-tokens.graphql'),
  settings: scimSettings,
  constraints: {
    scim_users_user_name_key: ['conflict', 'another user has this userName; comparisons ignore case'],
    scim_users_pkey: ['conflict', 'the user exists; change it with PUT or PATCH'],
    scim_tokens_token_hash_key: ['unavailable', 'the new token was not unique; try again'],
  },
  create: (deps: Deps) => {
    const { usersScimSubjectAttribute: subjectAttribute } = selectSettings(deps.config, scimSettings)
    const baseUrl = `${deps.config.publicUrl.replace(/\/$/, '')}/scim/v2`
    // The key is that of personal access tokens: the prefix of a token is part of the checked text.
    const checkKey: KeyObject = deriveSecretKey(deps.config.masterKey, 'access-token-check')
    const login = createScimLoginService({ ...deps, checkKeys: [checkKey, ...deps.retiredKeys.checkKeys] })
    const metrics = createScimMetrics(deps.metrics)
    const append = createScimAppend({ ...deps, metrics })
    const services = {
      users: createScimUsersService({ ...deps, append, subjectAttribute }),
      search: createScimSearchService({ ...deps, metrics, baseUrl }),
      groups: createScimGroupsService({ ...deps, append }),
      groupSearch: createScimGroupsSearchService({ ...deps, metrics, baseUrl }),
      baseUrl,
    }
    return {
      resolvers: createScimTokensResolvers(createScimTokensService({ ...deps, checkKey })),
      routes: (server) => registerScimRoutes(server, services),
      close: login.close,
      api: { authenticate: login.authenticate } satisfies ScimApi,
    }
  },
})
