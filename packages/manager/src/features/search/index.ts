// This feature finds objects of all kinds by a part of their name or by their id. It reads the tables of other
// features, and shows a caller only the objects that the lists and queries of those features show.
import { defineFeature } from '../../feature.ts'
import { readSdl } from '../../platform/graphql/schema.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import { createSearchResolvers } from './search.resolvers.ts'
import { createSearchService } from './search.service.ts'

/** Provides the GraphQL query `search`. */
export const search = defineFeature({
  name: 'search',
  sdl: readSdl(import.meta.url, './search.graphql'),
  create: (deps: { db: Db }) => ({
    resolvers: createSearchResolvers(createSearchService(deps)),
    api: {},
  }),
})
