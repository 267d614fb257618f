import type { Resolvers } from '../../generated/graphql.ts'
import type { AuditService } from './audit.service.ts'
import type { ReadChainProgress } from './chain-progress.service.ts'
import type { ChainVerificationService } from './chain-verification.service.ts'

/** Creates the GraphQL resolvers for the audit trail. */
export function createAuditResolvers(
  service: AuditService,
  { verification, readProgress }: { verification: ChainVerificationService; readProgress: ReadChainProgress },
) {
  return {
    Query: {
      auditLogs: (_parent, { projectID, ...args }) => service.list(projectID, args),
      auditLogsConnection: (_parent, { projectID, ...args }) => service.page(projectID, args),
      auditChain: (_parent, { projectId }) => readProgress(projectId),
      verifyAuditChain: (_parent, { projectId, fromSeq }) => verification.verify(projectId, fromSeq ?? 1),
    },
  } satisfies Resolvers
}
