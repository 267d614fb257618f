// Machine users: the accounts backends call with, their credentials, and the Bearer authentication of machine routes.
// Which ESB endpoints they may use is not here (endpoints/), nor are responses to the proxy (proxy-auth/).
import { type Config, settingsOf } from '../../config/config.ts'
import { throttleLimits } from '../../config/throttle-settings.ts'
import { defineFeature } from '../../feature.ts'
import { readSdl } from '../../platform/graphql/schema.ts'
import { type ThrottleDeps, createThrottle } from '../../platform/throttle/throttle.ts'
import { byId } from '../../policy/scopes.ts'
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
import { machineTokenHash } from './machine-token.pure.ts'
import { createMachineUsersResolvers } from './machine-users.resolvers.ts'
import { registerMachineRoutes } from './machine-users.routes.ts'
import { type MachineUsersDeps, createMachineUsersService } from './machine-users.service.ts'
import { machineUserSettings } from './machine-users.settings.ts'

export type MachineUsersApi = Pick<MachineLoginService, 'authenticate'> & {
  /** The hash by which the row of a machine token is found; null for a text that is none. */
  tokenHash: (text: string) => Buffer | null
}

type Deps = Omit<MachineUsersDeps, 'countServedRequests'> &
  MachineCredentialsDeps &
  Omit<MachineLoginDeps, 'throttle'> &
  ThrottleDeps & { config: Config; callLog: CallLogApi }

export const machineUsers = defineFeature({
  name: 'machineUsers',
  role: 'api',
  sdl: readSdl(import.meta.url, './machine-users.graphql'),
  settings: machineUserSettings,
  scopes: {
    MACHINE_USER: { noun: 'machine user', view: 'MACHINE_USER_READ', find: byId('machine_users') },
  },
  constraints: {
    machine_users_basic_username_key: [
      'conflict',
      'a Basic machine user with this username exists already in the project',
    ],
    machine_users_environment_fkey: ['not_found', 'environment not found'],
  },
  create: (deps: Deps) => {
    const settings = settingsOf(deps.config, machineUserSettings)
    const throttle = createThrottle(
      'machine',
      throttleLimits('machine', settings, settings.machineThrottleMaxBlockMs),
      deps,
    )
    const login = createMachineLoginService({ ...deps, throttle })
    const service = createMachineUsersService({
      ...deps,
      countServedRequests: deps.callLog.countByMachineUser,
    })
    const api: MachineUsersApi = { ...login, tokenHash: machineTokenHash }
    return {
      resolvers: createMachineUsersResolvers(service, createMachineCredentialsService(deps)),
      links: { MachineUser: { noun: 'machine user', findMany: service.findMany } },
      routes: (server) => registerMachineRoutes(server, login),
      close: () => throttle.close(),
      api,
    }
  },
})
