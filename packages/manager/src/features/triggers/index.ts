// This feature manages triggers, which are schedules that call backends, and records their runs. Ticks (scheduling.*) and
// people (manual-runs.*) plan runs, and jobs deliver them (delivery.*). The feature also contains the grammar and
// arithmetic of cron expressions. Backends register in backends/.
import { type Config, selectSettings } from '../../config/config.ts'
import { defineFeature } from '../../feature.ts'
import { computeLagMs, createRollUpSchedule } from '../../platform/jobs/roll-ups.ts'
import type { Schedule } from '../../platform/jobs/schedules.ts'
import { createPartitionsSchedule } from '../../platform/postgres/partitions.ts'
import { readSdl } from '../../platform/graphql/schema.ts'
import type { ConnectionShares } from '../../platform/http/open-files.ts'
import type { Metrics } from '../../platform/metrics.ts'
import type { NameResolver } from '../../platform/outbound/names.ts'
import type { OwnService } from '../../platform/outbound/own-services.ts'
import { createOutboundPools } from '../../platform/outbound/pools.ts'
import type { Redis } from '../../platform/redis/redis.ts'
import { createWindowLimit } from '../../platform/throttle/window-limit.ts'
import { createIdFinder } from '../../policy/scopes.ts'
import type { BackendsApi } from '../backends/index.ts'
import { createCronCache } from './crons.service.ts'
import { type DeliveryDeps, createDeliveryQueues } from './delivery.service.ts'
import { countRuns } from './run-counts-roll-up.store.ts'
import { createRunSeriesService } from './run-series.service.ts'
import { type SchedulingDeps, createSchedulingSchedule } from './scheduling.service.ts'
import { createManualRunsService } from './manual-runs.service.ts'
import { createTriggerMetrics } from './triggers.metrics.ts'
import { createRunPagesService } from './trigger-run-pages.service.ts'
import { createTriggersResolvers } from './triggers.resolvers.ts'
import { type TriggersDeps, createTriggersService } from './triggers.service.ts'
import { triggersSettings } from './triggers.settings.ts'

type Deps = Omit<TriggersDeps, 'crons' | 'maxPerProject'> &
  Omit<DeliveryDeps, 'backends' | 'limits' | 'pools' | 'triggerMetrics'> &
  Omit<SchedulingDeps, 'backends' | 'crons' | 'misfireToleranceMs' | 'triggerMetrics'> & {
    backends: BackendsApi
    config: Config
    metrics: Metrics
    nameResolver: NameResolver
    ownServices: Iterable<OwnService>
    redis: Redis
    shares: ConnectionShares
  }

const maxConnectMs = 10_000
// Idle time after which a connection closes. It is long enough to reuse connections for calls that are due at the same
// instant. A longer time would occupy slots that other calls need.
const keepAliveMs = 200

/** Provides the GraphQL fields, the planning schedule and the delivery queues. */
export const triggers = defineFeature({
  name: 'triggers',
  sdl: readSdl(import.meta.url, './triggers.graphql', './run-series.graphql'),
  settings: triggersSettings,
  scopes: {
    TRIGGER: {
      noun: 'trigger',
      view: 'TRIGGER_READ',
      find: createIdFinder('triggers', { application: 'application_id' }),
    },
    TRIGGER_RUN: {
      noun: 'trigger run',
      view: 'TRIGGER_READ',
      find: createIdFinder('trigger_runs', { application: 'application_id' }),
    },
  },
  constraints: { triggers_application_fkey: ['not_found', 'application not found'] },
  create: (deps: Deps) => {
    const settings = selectSettings(deps.config, triggersSettings)
    const crons = createCronCache()
    const triggerMetrics = createTriggerMetrics(deps.metrics)
    const limits = createLimits(settings, deps.shares)
    const pools = createOutboundPools({
      policy: deps.backends.egressPolicy,
      ownServices: deps.ownServices,
      nameResolver: deps.nameResolver,
      maxPerOrigin: limits.maxPerDeployment,
      maxSockets: deps.shares.callbacks,
      connectTimeoutMs: Math.min(maxConnectMs, limits.attemptTimeoutMs),
      keepAliveMs,
    })
    const limitRequests = createWindowLimit(
      'trigger-run',
      { count: settings.triggerManualRunsPerMinute, windowMs: 60_000 },
      deps.redis,
    )
    return {
      resolvers: createTriggersResolvers(
        createTriggersService({ ...deps, crons, maxPerProject: settings.triggerMaxPerProject }),
        {
          pages: createRunPagesService(deps),
          series: createRunSeriesService(deps),
          manualRuns: createManualRunsService({ ...deps, limitRequests }),
        },
      ),
      schedules: [
        ...createRunSchedules(deps, settings.triggerRunRetentionDays, triggerMetrics),
        createSchedulingSchedule({
          ...deps,
          crons,
          triggerMetrics,
          misfireToleranceMs: settings.triggerMisfireToleranceMs,
        }),
      ],
      queues: createDeliveryQueues({ ...deps, pools, triggerMetrics, limits }),
      close: () => pools.close(),
      api: {},
    }
  },
})

/** Returns the schedules that count runs, and that create and drop the monthly partitions of runs and counts. */
const createRunSchedules = (
  deps: Deps,
  retentionDays: number,
  { countLag }: ReturnType<typeof createTriggerMetrics>,
): Schedule[] => [
  createPartitionsSchedule('trigger-run-retention', { table: 'trigger_runs', retentionDays }, deps),
  createPartitionsSchedule('trigger-run-count-months', { table: 'trigger_run_counts', retentionDays }, deps),
  createRollUpSchedule(deps.db, {
    name: 'trigger_runs',
    lagMs: computeLagMs(deps.config),
    count: countRuns,
    onLag: (seconds) => countLag.set(seconds),
  }),
]

/** Returns the delivery limits. Each attempt uses its own connection, so connections bound the number of attempts. */
function createLimits(
  settings: ReturnType<typeof selectSettings<typeof triggersSettings>>,
  shares: ConnectionShares,
): DeliveryDeps['limits'] {
  return {
    attemptTimeoutMs: settings.triggerAttemptTimeoutMs,
    retryDelaysMs: settings.triggerRetryDelaysMs,
    maxRetryAfterMs: settings.triggerMaxRetryAfterMs,
    maxDeliveries: Math.min(settings.triggerMaxDeliveries, shares.callbacks),
    maxPerDeployment: settings.triggerMaxDeliveriesPerDeployment,
  }
}
