// The audit trail for users: the list of a project's entries and the schedule that seals the chains. Appending is not
// here (platform/audit/append.ts), nor is verification (platform/audit/verify.ts, used by the command line).
import { type Config, settingsOf } from '../../config/config.ts'
import { defineFeature } from '../../feature.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Db } from '../../platform/db/database.ts'
import { readSdl } from '../../platform/graphql/schema.ts'
import type { Logger } from '../../platform/log/log.ts'
import type { Metrics } from '../../platform/metrics.ts'
import { createSigningKey } from '../../platform/secrets/keys.ts'
import { assertMasterKey } from '../../platform/secrets/master-key.ts'
import { createAuditMetrics } from './audit.metrics.ts'
import { createAuditResolvers } from './audit.resolvers.ts'
import { createAuditService } from './audit.service.ts'
import { auditSettings } from './audit.settings.ts'

type Deps = { config: Config; db: Db; clock: Clock; log: Logger; metrics: Metrics }

export const auditTrail = defineFeature({
  name: 'auditTrail',
  sdl: readSdl(import.meta.url, './audit.graphql'),
  create: (deps: Deps) => {
    const { db, config } = deps
    const service = createAuditService({
      ...deps,
      metrics: createAuditMetrics(deps.metrics),
      checkpointKey: createSigningKey(config.masterKey, 'audit-checkpoint'),
      assertMasterKey: () => assertMasterKey(db, config.masterKey),
    })
    const { checkpointIntervalMs } = settingsOf(config, auditSettings)
    return {
      resolvers: createAuditResolvers(service),
      schedules: [
        { name: 'audit-checkpoint', everyMs: checkpointIntervalMs, atStart: true, run: service.seal },
      ],
      api: {},
    }
  },
})
