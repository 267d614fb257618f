// This feature manages machine users (the accounts that backends use to call the Manager) and their
// credentials. It also authenticates Bearer tokens on machine routes. endpoints/ manages access to ESB
// endpoints, and proxy-auth/ contains the responses to the proxy.
import { type Config, selectSettings } from '../../config/config.ts'
import { readThrottleLimits } from '../../config/throttle-settings.ts'
import { defineFeature } from '../../feature.ts'
import { readSdl } from '../../platform/graphql/schema.ts'
import { type ThrottleDeps, createThrottle } from '../../platform/throttle/throttle.ts'
import { createIdFinder } from '../../policy/scopes.ts'
import type { CallLogApi } from '../call-log/index.ts'
import {
  type MachineCredentialsDeps,
  createMachineCredentialsService,
} from './machine-credentials.service.ts'
import {
  type MachineLoginDeps,
  type MachineLoginService,
  createMachineLoginService,
} from './machine-login.service.ts'
import { parseTokenHash } from './machine-token.pure.ts'
import { createMachineUsersResolvers } from './machine-users.resolvers.ts'
import { registerMachineRoutes } from './machine-users.routes.ts'
import { type MachineUsersDeps, createMachineUsersService } from './machine-users.service.ts'
import { machineUserSettings } from './machine-users.settings.ts'

/** Authenticates machine users for other features. */
export type MachineUsersApi = Pick<MachineLoginService, 'authenticate'> & {
  /** Returns the hash under which a machine token is stored, or null if the string is not a token. */
  tokenHash: (text: string) => Buffer | null
}

type Deps = Omit<MachineUsersDeps, 'countServedRequests'> &
  MachineCredentialsDeps &
  Omit<MachineLoginDeps, 'throttle'> &
  ThrottleDeps & { config: Config; callLog: CallLogApi }

/** Provides the GraphQL fields, the credential check route and Bearer authentication with its throttle. */
export const machineUsers = defineFeature({
  name: 'machineUsers',
  role: 'api',
  sdl: readSdl(import.meta.url, './machine-users.graphql'),
  settings: machineUserSettings,
  scopes: {
    MACHINE_USER: { noun: 'machine user', view: 'MACHINE_USER_READ', find: createIdFinder('machine_users') },
  },
  constraints: {
    machine_users_basic_username_key: [
      'conflict',
      'the project already has a Basic machine user with this username',
      'input.username',
    ],
    machine_users_environment_fkey: ['not_found', 'environment not found'],
  },
  create: (deps: Deps) => {
    const settings = selectSettings(deps.config, machineUserSettings)
    const throttle = createThrottle(
      'machine',
      readThrottleLimits('machine', settings, settings.machineThrottleMaxBlockMs),
      deps,
    )
    const login = createMachineLoginService({ ...deps, throttle })
    const service = createMachineUsersService({
      ...deps,
      countServedRequests: deps.callLog.countByMachineUser,
    })
    const api: MachineUsersApi = { ...login, tokenHash: parseTokenHash }
    return {
      resolvers: createMachineUsersResolvers(service, createMachineCredentialsService(deps)),
      links: { MachineUser: { noun: 'machine user', findMany: service.findMany } },
      routes: (server) => registerMachineRoutes(server, login),
      close: () => throttle.close(),
      api,
    }
  },
})
