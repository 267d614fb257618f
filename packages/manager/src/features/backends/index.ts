// Backends: machine users that registered a URL to be called back at, their heartbeats, and who of them is live. Calling
// them back is not here (triggers/), nor are their credentials (machine-users/).
import { type Config, settingsOf } from '../../config/config.ts'
import { defineFeature } from '../../feature.ts'
import type { Metrics } from '../../platform/metrics.ts'
import { callbacksPolicy } from '../../platform/outbound/egress-policies.ts'
import { type EgressPolicy, createAddressRules } from '../../platform/outbound/egress.ts'
import {
  type ApplicationTenantsDeps,
  createApplicationTenantsService,
} from './application-tenants.service.ts'
import { createBackendMetrics } from './backends.metrics.ts'
import { registerBackendRoutes } from './backends.routes.ts'
import { backendSettings } from './backends.settings.ts'
import { createHeartbeatsService } from './heartbeats.service.ts'
import { type LivenessDeps, type LivenessService, createLivenessService } from './liveness.service.ts'
import { type RegistrationsDeps, createRegistrationsService } from './registrations.service.ts'
import { secretColumns } from './token-place.pure.ts'

export type BackendsApi = Pick<LivenessService, 'countLive' | 'listDeployments' | 'listLiveTargets'> & {
  /** Where callbacks may go. */
  egressPolicy: EgressPolicy
}

type Deps = Omit<RegistrationsDeps, 'rules'> &
  Omit<LivenessDeps, 'metrics' | 'staleAfterMs' | 'reapAfterMs'> &
  ApplicationTenantsDeps & { config: Config; metrics: Metrics }

const [reapEveryMs, noteEveryMs] = [30_000, 10_000]

export const backends = defineFeature({
  name: 'backends',
  role: 'api',
  settings: backendSettings,
  sealedColumns: [secretColumns],
  create: (deps: Deps) => {
    const settings = settingsOf(deps.config, backendSettings)
    const metrics = createBackendMetrics(deps.metrics)
    if (settings.callbacksReapAfterMs < settings.callbacksStaleAfterMs)
      throw new Error('callbacks.reap_after must not be shorter than callbacks.stale_after')
    const egressPolicy = callbacksPolicy(settings.callbacksAllowedCidrs)
    const rules = createAddressRules(egressPolicy)
    const heartbeats = createHeartbeatsService({ db: deps.db, metrics })
    const registrations = createRegistrationsService({ ...deps, rules })
    const tenants = createApplicationTenantsService(deps)
    const liveness = createLivenessService({
      ...deps,
      metrics,
      staleAfterMs: settings.callbacksStaleAfterMs,
      reapAfterMs: settings.callbacksReapAfterMs,
    })
    const api: BackendsApi = {
      countLive: liveness.countLive,
      listDeployments: liveness.listDeployments,
      listLiveTargets: liveness.listLiveTargets,
      egressPolicy,
    }
    return {
      routes: (server) => registerBackendRoutes(server, { registrations, heartbeats, tenants }),
      schedules: [
        { name: 'backends-reap', everyMs: reapEveryMs, run: liveness.reap },
        // At the start too: what was missed before it is an outage, and no reaping may come before that is known.
        {
          name: 'heartbeat-reception',
          everyMs: noteEveryMs,
          role: 'api',
          atStart: true,
          run: heartbeats.noteReception,
        },
      ],
      api,
    }
  },
})
