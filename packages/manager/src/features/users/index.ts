// Users: who has been seen, their system role, and the directory search. Memberships are not here (memberships/), nor
// is reading the forwarded identity (platform/http/identity.ts).
import type { Feature } from '../../feature.ts'
import { readSdl } from '../../platform/graphql/schema.ts'
import { createUsersResolvers } from './users.resolvers.ts'
import { type UsersDeps, type UsersService, createUsersService } from './users.service.ts'

export type UsersApi = Pick<
  UsersService,
  'provision' | 'findMany' | 'grantAdministrator' | 'updateSystemRole'
>

export function createUsers(deps: UsersDeps): Feature<UsersApi> {
  const service = createUsersService(deps)
  return {
    name: 'users',
    sdl: readSdl('./users.graphql', import.meta.url),
    resolvers: createUsersResolvers(service),
    api: service,
  }
}
