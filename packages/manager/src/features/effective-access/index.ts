// This feature shows what a person has access to and who has access to an object, with the roles behind it. It reads the
// memberships that memberships/ manages, and computes permissions with the functions of the guard.
import type { Config } from '../../config/config.ts'
import { defineFeature } from '../../feature.ts'
import { badRequest } from '../../platform/errors.ts'
import { readSdl } from '../../platform/graphql/schema.ts'
import { createSealedCursors } from '../../platform/lists/sealed-cursor.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import { deriveSecretKey } from '../../platform/secrets/keys.ts'
import { type FindTarget, createIdFinder } from '../../policy/scopes.ts'
import { createEffectiveAccessResolvers } from './effective-access.resolvers.ts'
import { createEffectiveAccessService, objectNoun, objectScope } from './effective-access.service.ts'

const finders = [
  createIdFinder('projects', { project: 'id' }),
  createIdFinder('tenants', { tenant: 'id' }),
  createIdFinder('applications', { application: 'id' }),
]

/** Finds the object whose id is given; the key consists of a project, a tenant and an application. */
const findObject: FindTarget = async (lookUp, key) => {
  const [given, ...others] = finders.flatMap((find, index) => {
    const id = key[index] ?? null
    return id === null ? [] : [{ find, id }]
  })
  if (given === undefined || others.length > 0)
    throw badRequest('pass exactly one of project, tenant and application')
  return given.find(lookUp, [given.id])
}

/** Provides the GraphQL queries `effectiveAccess` and `whoCanReach`. */
export const effectiveAccess = defineFeature({
  name: 'effectiveAccess',
  sdl: readSdl(import.meta.url, './effective-access.graphql'),
  scopes: {
    [objectScope]: { noun: objectNoun, view: 'ACCESS_READ', find: findObject },
  },
  create: ({ db, config }: { db: Db; config: Config }) => {
    const cursors = createSealedCursors(deriveSecretKey(config.masterKey, 'list-cursors'))
    return {
      resolvers: createEffectiveAccessResolvers(createEffectiveAccessService({ db, cursors })),
      api: {},
    }
  },
})
