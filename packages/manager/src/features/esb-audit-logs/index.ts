// The log of calls through the ESB. The log itself depends on no other feature: others ask it before they delete what it
// names. What people read of it leads to endpoints, applications and machine users, and stands below them.
import type { Feature } from '../../feature.ts'
import { readSdl } from '../../platform/graphql/schema.ts'
import { callCounts } from './call-counts.service.ts'
import { type CallLog, type CallLogDeps, createCallLog } from './call-log.service.ts'
import { type Owners, createEsbAuditLogsResolvers } from './esb-audit-logs.resolvers.ts'
import { type EsbAuditLogsDeps, createEsbAuditLogsService } from './esb-audit-logs.service.ts'
import { type RetentionDeps, createRetention } from './retention.service.ts'

export type { CallLog }
export type EsbAuditLogsApi = typeof callCounts & { callLog: CallLog }

const hourMs = 3_600_000

export function createEsbAuditLogs(deps: RetentionDeps & CallLogDeps): Feature<EsbAuditLogsApi> {
  return {
    name: 'esb-audit-logs',
    jobs: [{ name: 'esb-audit-retention', everyMs: hourMs, atStart: true, run: createRetention(deps) }],
    api: { ...callCounts, callLog: createCallLog(deps) },
  }
}

export function createEsbAuditLogReads(deps: EsbAuditLogsDeps & Owners): Feature {
  return {
    name: 'esb-audit-log-reads',
    sdl: readSdl('./esb-audit-logs.graphql', import.meta.url),
    resolvers: createEsbAuditLogsResolvers(createEsbAuditLogsService(deps), deps),
    api: {},
  }
}
