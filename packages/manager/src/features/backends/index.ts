// Backends are machine users that registered a callback URL. This feature stores registrations and heartbeats, and
// determines which backends are live. triggers/ calls them back, and machine-users/ manages their credentials.
import { type Config, selectSettings } from '../../config/config.ts'
import { defineFeature } from '../../feature.ts'
import { readSdl } from '../../platform/graphql/schema.ts'
import type { Metrics } from '../../platform/metrics.ts'
import { createCallbacksPolicy } from '../../platform/outbound/egress-policies.ts'
import { type EgressPolicy, createAddressRules } from '../../platform/outbound/egress.ts'
import {
  type ApplicationTenantsDeps,
  createApplicationTenantsService,
} from './application-tenants.service.ts'
import { createBackendMetrics } from './backends.metrics.ts'
import { createBackendsResolvers } from './backends.resolvers.ts'
import { registerBackendRoutes } from './backends.routes.ts'
import { backendSettings } from './backends.settings.ts'
import { createHeartbeatsService } from './heartbeats.service.ts'
import { type LivenessDeps, type LivenessService, createLivenessService } from './liveness.service.ts'
import { createRegisteredBackendsService } from './registered-backends.service.ts'
import { type RegistrationsDeps, createRegistrationsService } from './registrations.service.ts'
import { secretColumns } from './sealed-secrets.pure.ts'

/** Lists live backends for callbacks, with the network rules that apply to them. */
export type BackendsApi = Pick<LivenessService, 'countLive' | 'listDeployments' | 'listLiveTargets'> & {
  /** The networks to which callbacks may be sent. */
  egressPolicy: EgressPolicy
}

type Deps = Omit<RegistrationsDeps, 'rules'> &
  Omit<LivenessDeps, 'metrics' | 'staleAfterMs' | 'reapAfterMs'> &
  ApplicationTenantsDeps & { config: Config; metrics: Metrics }

const [reapEveryMs, receptionEveryMs] = [30_000, 10_000]

export const backends = defineFeature({
  name: 'backends',
  role: 'api',
  sdl: readSdl(import.meta.url, './backends.graphql'),
  settings: backendSettings,
  sealedColumns: [secretColumns],
  create: (deps: Deps) => {
    const settings = selectSettings(deps.config, backendSettings)
    const metrics = createBackendMetrics(deps.metrics)
    if (settings.callbacksReapAfterMs < settings.callbacksStaleAfterMs)
      throw new Error('callbacks.reap_after must not be shorter than callbacks.stale_after')
    const egressPolicy = createCallbacksPolicy(settings.callbacksAllowedCidrs)
    const rules = createAddressRules(egressPolicy)
    const heartbeats = createHeartbeatsService({ db: deps.db, metrics })
    const registrations = createRegistrationsService({ ...deps, rules })
    const tenants = createApplicationTenantsService(deps)
    const staleAfterMs = settings.callbacksStaleAfterMs
    const liveness = createLivenessService({
      ...deps,
      metrics,
      staleAfterMs,
      reapAfterMs: settings.callbacksReapAfterMs,
    })
    const api: BackendsApi = {
      countLive: liveness.countLive,
      listDeployments: liveness.listDeployments,
      listLiveTargets: liveness.listLiveTargets,
      egressPolicy,
    }
    return {
      resolvers: createBackendsResolvers(createRegisteredBackendsService({ db: deps.db, staleAfterMs })),
      routes: (server) => registerBackendRoutes(server, { registrations, heartbeats, tenants }),
      schedules: [
        { name: 'backends-reap', everyMs: reapEveryMs, run: liveness.reap },
        // Without a count at startup, the metric would be missing until the first interval ends.
        { name: 'backends-count', everyMs: reapEveryMs, atStart: true, run: liveness.count },
        // This schedule also runs at startup. The downtime before the start is an outage, which must be
        // recorded before any registration is removed.
        {
          name: 'heartbeat-reception',
          everyMs: receptionEveryMs,
          role: 'api',
          atStart: true,
          run: heartbeats.recordReception,
        },
      ],
      api,
    }
  },
})
