// The ESB gateway forwards calls of machine users, and test calls of people, to endpoints. endpoints/ and transformations/ manage endpoints and
// their transformations, and call-log/ records the calls.
import { type Config, selectSettings } from '../../config/config.ts'
import { defineFeature } from '../../feature.ts'
import { readSdl } from '../../platform/graphql/schema.ts'
import type { ConnectionShares } from '../../platform/http/open-files.ts'
import type { Metrics } from '../../platform/metrics.ts'
import { gatewayPolicy } from '../../platform/outbound/egress-policies.ts'
import type { NameResolver } from '../../platform/outbound/names.ts'
import type { OwnService } from '../../platform/outbound/own-services.ts'
import { createOutboundPools } from '../../platform/outbound/pools.ts'
import type { Redis } from '../../platform/redis/redis.ts'
import { createWindowLimit } from '../../platform/throttle/window-limit.ts'
import { createGatewayMetrics } from './gateway.metrics.ts'
import { registerGatewayRoutes } from './gateway.routes.ts'
import { type GatewayDeps, createGatewayParts, createGatewayService } from './gateway.service.ts'
import { gatewaySettings } from './gateway.settings.ts'
import { createTestCallsResolvers } from './test-calls.resolvers.ts'
import { type TestCallsDeps, createTestCallsService } from './test-calls.service.ts'

type Deps = Omit<
  TestCallsDeps,
  'gatewayMetrics' | 'limitTestCalls' | 'limits' | 'maxBytes' | 'maxCalls' | 'pools'
> & {
  config: Config
  metrics: Metrics
  nameResolver: NameResolver
  ownServices: Iterable<OwnService>
  redis: Redis
  shares: ConnectionShares
}

export const gateway = defineFeature({
  name: 'gateway',
  role: 'gateway',
  sdl: readSdl(import.meta.url, './test-calls.graphql'),
  settings: gatewaySettings,
  create: (deps: Deps) => {
    const { config, nameResolver, ownServices, shares } = deps
    const pools = createOutboundPools({
      ...readOutboundOptions(config),
      ownServices,
      nameResolver,
      maxSockets: shares.outbound,
    })
    const gatewayDeps = {
      ...deps,
      pools,
      limits: readLimits(config),
      maxBytes: config.cacheMaxBytes,
      // The remaining connections of the port are reserved for other requests.
      maxCalls: Math.max(1, Math.floor((shares.api * 3) / 4)),
      gatewayMetrics: createGatewayMetrics(deps.metrics),
    }
    const parts = createGatewayParts(gatewayDeps)
    const service = createGatewayService(gatewayDeps, parts)
    const { esbTestCallsPerMinute: count } = selectSettings(config, gatewaySettings)
    const limitTestCalls = createWindowLimit('test-call', { count, windowMs: 60_000 }, deps.redis)
    const testCalls = createTestCallsService({ ...gatewayDeps, limitTestCalls }, parts)
    return {
      resolvers: createTestCallsResolvers(testCalls),
      routes: (server) => registerGatewayRoutes(server, service),
      close: () => pools.close(),
      api: {},
    }
  },
})

function readLimits(config: Config): GatewayDeps['limits'] {
  const settings = selectSettings(config, gatewaySettings)
  return {
    maxResponseBytes: settings.esbMaxResponseBytes,
    forwardTimeoutMs: settings.esbForwardTimeoutMs,
    maxBufferedBytes: settings.esbMaxBufferedBytes,
    body: {
      maxBytes: config.esbMaxRequestBytes,
      timeoutMs: settings.esbBodyTimeoutMs,
      stallMs: settings.esbBodyStallMs,
    },
  }
}

function readOutboundOptions(config: Config) {
  const settings = selectSettings(config, gatewaySettings)
  return {
    policy: gatewayPolicy(settings),
    maxPerOrigin: settings.esbMaxCallsPerOrigin,
    connectTimeoutMs: Math.min(10_000, settings.esbForwardTimeoutMs),
  }
}
