// This feature records calls through the ESB, deletes them after their retention period, lists them for users,
// and counts them by hour. Other features call it before they delete an endpoint, an application or a machine user. gateway/
// forwards the calls.
import { type Config, selectSettings } from '../../config/config.ts'
import { defineFeature } from '../../feature.ts'
import { computeLagMs, createRollUpSchedule } from '../../platform/jobs/roll-ups.ts'
import { createPartitionsSchedule } from '../../platform/postgres/partitions.ts'
import { readSdl } from '../../platform/graphql/schema.ts'
import type { Metrics } from '../../platform/metrics.ts'
import { countCalls } from './call-counts-roll-up.store.ts'
import { callCounts } from './call-counts.service.ts'
import { createCallLogMetrics } from './call-log.metrics.ts'
import { type CallLogDeps, createCallLog, partitionedTable } from './call-log.service.ts'
import { callLogSettings } from './call-log.settings.ts'
import { createCallPagesService } from './logged-call-pages.service.ts'
import { createCallSeriesService } from './call-series.service.ts'
import { createLoggedCallsResolvers } from './logged-calls.resolvers.ts'
import { createLoggedCallsService } from './logged-calls.service.ts'
import { type Recording, type RecordingDeps, createRecorders } from './recording.service.ts'

export type { Outcome, TestRecording, TestResult } from './recording.service.ts'
export type { Recording }
/** Records calls, and counts logged calls before a deletion. */
export type CallLogApi = typeof callCounts & ReturnType<typeof createRecorders>

type Deps = Omit<CallLogDeps, 'metrics'> &
  Omit<RecordingDeps, 'callLog'> & { config: Config; metrics: Metrics }

export const callLog = defineFeature({
  name: 'callLog',
  sdl: readSdl(import.meta.url, './logged-calls.graphql', './call-series.graphql'),
  settings: callLogSettings,
  create: (deps: Deps) => {
    const { esbAuditRetentionDays: retentionDays } = selectSettings(deps.config, callLogSettings)
    const metrics = createCallLogMetrics(deps.metrics)
    const log = createCallLog({ ...deps, metrics })
    const api: CallLogApi = { ...callCounts, ...createRecorders({ ...deps, callLog: log }) }
    return {
      resolvers: createLoggedCallsResolvers(createLoggedCallsService(deps), {
        pages: createCallPagesService(deps),
        series: createCallSeriesService(deps),
      }),
      schedules: [
        createPartitionsSchedule('esb-audit-retention', { table: partitionedTable, retentionDays }, deps),
        createPartitionsSchedule('esb-call-count-months', { table: 'esb_call_counts', retentionDays }, deps),
        createRollUpSchedule(deps.db, {
          name: 'esb_calls',
          lagMs: computeLagMs(deps.config),
          count: countCalls,
          onLag: (seconds) => metrics.countLag.set(seconds),
        }),
      ],
      api,
    }
  },
})
