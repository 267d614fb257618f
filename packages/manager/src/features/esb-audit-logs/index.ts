// The log of calls through the ESB. The log itself depends on no other feature: others ask it before they delete what it
// names. What people read of it leads to endpoints, applications and machine users, and stands below them.
import type { Feature } from '../../feature.ts'
import { createPartitionsJob } from '../../platform/db/partitions.ts'
import { readSdl } from '../../platform/graphql/schema.ts'
import { callCounts } from './call-counts.service.ts'
import { type CallLog, type CallLogDeps, createCallLog, partitionedTable } from './call-log.service.ts'
import { type Owners, createEsbAuditLogsResolvers } from './esb-audit-logs.resolvers.ts'
import { type EsbAuditLogsDeps, createEsbAuditLogsService } from './esb-audit-logs.service.ts'

export type { CallLog }
export type EsbAuditLogsApi = typeof callCounts & { callLog: CallLog }

export function createEsbAuditLogs(deps: CallLogDeps & { retentionDays: number }): Feature<EsbAuditLogsApi> {
  const kept = { table: partitionedTable, retentionDays: deps.retentionDays }
  return {
    name: 'esb-audit-logs',
    jobs: [createPartitionsJob('esb-audit-retention', kept, deps)],
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
