import type { ApiServer } from '../../platform/http/declarations.ts'
import { sendBundle } from '../../platform/http/send-bundle.ts'
import { sendCached } from '../../platform/http/send-cached.ts'
import { type BundleService, packageNotFound } from './bundle.service.ts'
import type { FeedService } from './feed.service.ts'
import type { ReadKeys } from './keys.service.ts'
import { bundleSchema, keysSchema, sharedFeedSchema, tenantFeedSchema } from './pilet-feed.schemas.ts'

/** Registers the routes that browsers use to load pilets through the trusted proxy. */
export function registerPiletFeedRoutes(
  server: ApiServer,
  { feeds, bundles, readKeys }: { feeds: FeedService; bundles: BundleService; readKeys: ReadKeys },
): void {
  const config = { policy: { proxy: 'frontends load their pilets before users sign in' } }
  server.get('/pilet-feed/:applicationId', { config, schema: sharedFeedSchema }, async (request, reply) =>
    sendCached(request, reply, await feeds.forAllTenants(request.params.applicationId)),
  )
  server.get(
    '/pilet-feed/:applicationId/:tenantId',
    { config, schema: tenantFeedSchema },
    async (request, reply) => {
      const { applicationId, tenantId } = request.params
      return sendCached(request, reply, await feeds.forTenant(applicationId, tenantId))
    },
  )
  // HEAD is registered explicitly: the automatic HEAD of a GET route would derive the length from bytes that were not
  // read.
  server.route({
    method: ['GET', 'HEAD'],
    url: '/pilet-bundle/:applicationId/:projectId/:name/:version',
    config: { ...config, notFoundText: packageNotFound },
    schema: bundleSchema,
    handler: async (request, reply) => {
      const bundle = await bundles.find(request.params)
      return sendBundle(request, reply, bundle, (holder) =>
        bundles.read(bundle, request.clientNetwork, holder),
      )
    },
  })
  server.get('/pilet-keys/:applicationId', { config, schema: keysSchema }, async (request, reply) =>
    sendCached(request, reply, await readKeys(request.params.applicationId)),
  )
}
