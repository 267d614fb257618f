// This feature manages users: everyone who has signed in, their system role, whether they are active, and the directory
// search. memberships/ manages memberships, scim/ receives people from identity providers, and platform/http/identity.ts
// reads the forwarded identity.
import { defineFeature } from '../../feature.ts'
import { readSdl } from '../../platform/graphql/schema.ts'
import {
  type ProvisionedUsersService,
  createActivationService,
  createProvisionedUsersService,
} from './activation.service.ts'
import { type AdministratorsService, createAdministratorsService } from './administrators.service.ts'
import { type DirectoryUsersService, createDirectoryUsersService } from './directory-users.service.ts'
import { createUsersResolvers } from './users.resolvers.ts'
import { type UsersDeps, type UsersService, createUsersService } from './users.service.ts'

/** Lets other features provision users, find people in the user directory, and appoint administrators. */
export type UsersApi = Pick<UsersService, 'provision'> & {
  grantAdministrator: AdministratorsService['grant']
  /** People who have never signed in. */
  directory: DirectoryUsersService
  /** People whom an identity provider manages over SCIM. */
  provisioned: ProvisionedUsersService
}

/** Provides the GraphQL fields for users and the user directory search. */
export const users = defineFeature({
  name: 'users',
  sdl: readSdl(import.meta.url, './users.graphql'),
  create: (deps: UsersDeps) => {
    const service = createUsersService(deps)
    const api: UsersApi = {
      provision: service.provision,
      grantAdministrator: createAdministratorsService(deps).grant,
      directory: createDirectoryUsersService(deps),
      provisioned: createProvisionedUsersService(),
    }
    return {
      resolvers: createUsersResolvers(service, createActivationService(deps)),
      links: { User: { noun: 'user', findMany: service.findMany } },
      api,
    }
  },
})
