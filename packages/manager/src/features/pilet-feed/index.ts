// This feature serves pilets to browsers: the feed of a frontend, the bundles, and the public keys for developers. It also
// finds the settings that enable or pin a pilet.
// pilets/ manages packages, and settings/ serves the configuration of a frontend.
import type { Config } from '../../config/config.ts'
import { defineFeature } from '../../feature.ts'
import { readSdl } from '../../platform/graphql/schema.ts'
import type { PiletsApi } from '../pilets/index.ts'
import { type BundleDeps, createBundleService } from './bundle.service.ts'
import { type FeedDeps, createFeedService } from './feed.service.ts'
import { createPublicKeyReader } from './keys.service.ts'
import { createPiletFeedResolvers } from './pilet-feed.resolvers.ts'
import { registerPiletFeedRoutes } from './pilet-feed.routes.ts'
import { createPiletUsageFinder } from './pilet-usage.service.ts'

type Deps = Omit<FeedDeps & BundleDeps, 'maxBytes' | 'holdBlob'> & { config: Config; pilets: PiletsApi }

/** Provides the routes for feeds, bundles and public keys, and the preview of a feed. The pilets feature provides the bundle bytes. */
export const piletFeed = defineFeature({
  name: 'piletFeed',
  role: 'api',
  sdl: readSdl(import.meta.url, './pilet-feed.graphql', './pilet-usage.graphql'),
  create: (deps: Deps) => {
    const maxBytes = deps.config.cacheMaxBytes
    const services = {
      feeds: createFeedService({ ...deps, maxBytes }),
      bundles: createBundleService({ ...deps, maxBytes, holdBlob: deps.pilets.holdBlob }),
      readKeys: createPublicKeyReader(deps.database),
    }
    return {
      resolvers: createPiletFeedResolvers(services.feeds.preview, createPiletUsageFinder(deps)),
      routes: (server) => registerPiletFeedRoutes(server, services),
      api: {},
    }
  },
})
