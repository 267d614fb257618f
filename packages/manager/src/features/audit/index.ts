// This feature lists, exports and verifies the audit trail. It also schedules signing, verifying and copying of checkpoints.
// platform/audit/append.ts appends entries, and platform/audit/rows.ts contains the verification rules.
import { type Config, selectSettings } from '../../config/config.ts'
import { defineFeature } from '../../feature.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import { readSdl } from '../../platform/graphql/schema.ts'
import type { Logger } from '../../platform/log/log.ts'
import type { Metrics } from '../../platform/metrics.ts'
import { type ReadChainStatus, createChainStatus } from '../../platform/audit/chain-status.ts'
import { deriveVerificationKey } from '../../platform/audit/verification-marks.ts'
import type { RetiredKeys } from '../../platform/master-key/retired-keys.ts'
import { createSigningKey } from '../../platform/secrets/keys.ts'
import { assertMasterKey } from '../../platform/secrets/master-key.ts'
import { createAuditMetrics } from './audit.metrics.ts'
import { registerAuditRoutes } from './audit.routes.ts'
import { createAuditResolvers } from './audit.resolvers.ts'
import { createAuditService } from './audit.service.ts'
import { auditSettings } from './audit.settings.ts'
import { createChainVerificationService } from './chain-verification.service.ts'
import { createChainProgress } from './chain-progress.service.ts'
import { createCopiesService } from './copies.service.ts'
import { type ExportDeps, createExportService } from './export.service.ts'
import { createVerificationService } from './verification.service.ts'

/** Reports the verification status of audit chains to other features. */
export type AuditTrailApi = {
  /** Returns the verification status that exports and reports include for their chains. */
  chainStatus: ReadChainStatus
}

type Deps = Pick<ExportDeps, 'database' | 'audit'> & {
  config: Config
  db: Db
  clock: Clock
  log: Logger
  metrics: Metrics
  retiredKeys: RetiredKeys
}

export const auditTrail = defineFeature({
  name: 'auditTrail',
  role: 'api',
  sdl: readSdl(import.meta.url, './audit.graphql'),
  settings: auditSettings,
  ownServices: (config) => {
    const { checkpointS3Endpoint } = selectSettings(config, auditSettings)
    return checkpointS3Endpoint === undefined ? [] : [checkpointS3Endpoint]
  },
  create: (deps: Deps) => {
    const { db, config, log } = deps
    const metrics = createAuditMetrics(deps.metrics)
    const checkpointKey = createSigningKey(config.masterKey, 'audit-checkpoint')
    const macKey = deriveVerificationKey(config.masterKey)
    const keys = [checkpointKey, ...deps.retiredKeys.checkpointKeys]
    const settings = selectSettings(config, auditSettings)
    const sharedDeps = { db, log, metrics, assertMasterKey: () => assertMasterKey(db, config.masterKey) }
    const service = createAuditService({ ...sharedDeps, clock: deps.clock, checkpointKey })
    const limits = { newRows: settings.verifyNewRows, oldRows: settings.verifyOldRows }
    const verification = createVerificationService({
      ...sharedDeps,
      verifier: { db: db.idempotent, keys, macKey },
      limits,
    })
    const copies = createCopiesService({ ...sharedDeps, macKey, settings })
    const api: AuditTrailApi = { chainStatus: createChainStatus({ keys, macKey }) }
    const exports = createExportService({ ...deps, ...api, checkpointKey })
    const everyMs = settings.checkpointIntervalMs
    return {
      resolvers: createAuditResolvers(service, {
        verification: createChainVerificationService({ ...deps, keys, macKey }),
        readProgress: createChainProgress({ db, macKey }),
      }),
      routes: (server) => registerAuditRoutes(server, exports),
      schedules: [
        { name: 'audit-checkpoint', everyMs, atStart: true, run: service.seal },
        { name: 'audit-verify', everyMs: settings.verifyIntervalMs, atStart: true, run: verification.run },
        ...(copies === null
          ? []
          : [{ name: 'audit-checkpoint-copies', everyMs, atStart: true as const, run: copies.run }]),
      ],
      api,
      close: async () => copies?.close(),
    }
  },
})
