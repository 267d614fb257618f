import type { Resolvers } from '../../generated/graphql.ts'
import type { AuditService } from './audit.service.ts'
import type { ChainVerificationService } from './chain-verification.service.ts'

/** Creates the GraphQL resolvers for the audit trail. */
export function createAuditResolvers(service: AuditService, verification: ChainVerificationService) {
  return {
    Query: {
      auditLogs: (_parent, { projectID, ...args }) => service.list(projectID, args),
      auditLogsConnection: (_parent, { projectID, ...args }) => service.page(projectID, args),
      verifyAuditChain: (_parent, { projectId, fromSeq }, { actor }) =>
        verification.verify(actor, projectId, fromSeq ?? 1),
    },
  } satisfies Resolvers
}
