// Machine users: the accounts backends call with, their credentials, and the Bearer authentication of machine routes.
// Which ESB endpoints they may use is not here (endpoints/), nor are answers to the proxy (proxy-auth/).
import type { Feature } from '../../feature.ts'
import { readSdl } from '../../platform/graphql/schema.ts'
import type { EnvironmentsApi } from '../environments/index.ts'
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
import {
  type MachineUsersDeps,
  type MachineUsersService,
  createMachineUsersService,
} from './machine-users.service.ts'

export type MachineUsersApi = Pick<MachineLoginService, 'authenticate'> &
  Pick<MachineUsersService, 'findMany'> & {
    /** The hash by which the row of a machine token is found; null for a text that is none. */
    tokenHash: (text: string) => Buffer | null
  }

export type Deps = MachineUsersDeps &
  MachineCredentialsDeps &
  MachineLoginDeps & { environments: EnvironmentsApi }

export function createMachineUsers(deps: Deps): Feature<MachineUsersApi> {
  const login = createMachineLoginService(deps)
  const service = createMachineUsersService(deps)
  return {
    name: 'machine-users',
    role: 'api',
    sdl: readSdl('./machine-users.graphql', import.meta.url),
    resolvers: createMachineUsersResolvers(service, createMachineCredentialsService(deps), deps.environments),
    routes: (server) => registerMachineRoutes(server, login),
    constraints: {
      machine_users_basic_username_key: [
        'conflict',
        'a Basic machine user with this username exists already in the project',
      ],
      machine_users_environment_fkey: ['not_found', 'environment not found'],
    },
    api: { ...login, findMany: service.findMany, tokenHash: machineTokenHash },
  }
}
