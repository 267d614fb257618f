// The ESB gateway forwards calls of machine users to endpoints. endpoints/ and transformations/ manage endpoints and
// their transformations, and call-log/ records the calls.
import { type Config, selectSettings } from '../../config/config.ts'
import { defineFeature } from '../../feature.ts'
import type { ConnectionShares } from '../../platform/http/open-files.ts'
import type { Metrics } from '../../platform/metrics.ts'
import { gatewayPolicy } from '../../platform/outbound/egress-policies.ts'
import type { Names } from '../../platform/outbound/names.ts'
import type { OwnService } from '../../platform/outbound/own-services.ts'
import { createOutboundPools } from '../../platform/outbound/pools.ts'
import { createGatewayMetrics } from './gateway.metrics.ts'
import { registerGatewayRoutes } from './gateway.routes.ts'
import { type GatewayDeps, createGatewayService } from './gateway.service.ts'
import { gatewaySettings } from './gateway.settings.ts'

type Deps = Omit<GatewayDeps, 'gatewayMetrics' | 'limits' | 'maxBytes' | 'maxCalls' | 'pools'> & {
  config: Config
  metrics: Metrics
  names: Names
  ownServices: Iterable<OwnService>
  shares: ConnectionShares
}

export const gateway = defineFeature({
  name: 'gateway',
  role: 'gateway',
  settings: gatewaySettings,
  create: (deps: Deps) => {
    const { config, names, ownServices, shares } = deps
    const pools = createOutboundPools({
      ...readOutboundOptions(config),
      ownServices,
      names,
      maxSockets: shares.outbound,
    })
    const service = createGatewayService({
      ...deps,
      pools,
      limits: readLimits(config),
      maxBytes: config.cacheMaxBytes,
      // The remaining connections of the port are reserved for other requests.
      maxCalls: Math.max(1, Math.floor((shares.api * 3) / 4)),
      gatewayMetrics: createGatewayMetrics(deps.metrics),
    })
    return {
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
