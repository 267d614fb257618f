// Users: who has been seen, their system role, and the directory search. Memberships are not here (memberships/), nor
// is reading the forwarded identity (platform/http/identity.ts).
import { defineFeature } from '../../feature.ts'
import { readSdl } from '../../platform/graphql/schema.ts'
import { type AdministratorsService, createAdministratorsService } from './administrators.service.ts'
import { createUsersResolvers } from './users.resolvers.ts'
import { type UsersDeps, type UsersService, createUsersService } from './users.service.ts'

export type UsersApi = Pick<UsersService, 'provision'> & {
  grantAdministrator: AdministratorsService['grant']
}

export const users = defineFeature({
  name: 'users',
  sdl: readSdl(import.meta.url, './users.graphql'),
  create: (deps: UsersDeps) => {
    const service = createUsersService(deps)
    const api: UsersApi = {
      provision: service.provision,
      grantAdministrator: createAdministratorsService(deps).grant,
    }
    return {
      resolvers: createUsersResolvers(service),
      links: { User: { noun: 'user', findMany: service.findMany } },
      api,
    }
  },
})
