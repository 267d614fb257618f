// This feature provides named queries over the records of the Manager, for auditors. Every feature appends to the audit
// trail (platform/audit/append.ts), and platform/credentials/auth-failures.ts counts failed authentications.
import { type Config, selectSettings } from '../../config/config.ts'
import { defineFeature } from '../../feature.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { createPartitionsSchedule } from '../../platform/postgres/partitions.ts'
import type { Logger } from '../../platform/log/log.ts'
import { registerEvidenceRoutes } from './evidence.routes.ts'
import { type EvidenceDeps, createEvidenceService } from './evidence.service.ts'
import { evidenceSettings } from './evidence.settings.ts'
import { evidenceQueries } from './queries.pure.ts'

type Deps = Pick<EvidenceDeps, 'db' | 'audit' | 'auditTrail'> & {
  config: Config
  database: Database
  log: Logger
}

const maxRows = 100_000

export const evidence = defineFeature({
  name: 'evidence',
  role: 'api',
  settings: evidenceSettings,
  create: (deps: Deps) => {
    const { authFailureRetentionDays: retentionDays } = selectSettings(deps.config, evidenceSettings)
    const { openSnapshot } = deps.database
    const service = createEvidenceService({ ...deps, openSnapshot, queries: evidenceQueries, maxRows })
    return {
      routes: (server) => registerEvidenceRoutes(server, service),
      schedules: [
        createPartitionsSchedule('auth-failure-retention', { table: 'auth_failures', retentionDays }, deps),
      ],
      api: {},
    }
  },
})
