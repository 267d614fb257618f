import type { Resolvers } from '../../generated/graphql.ts'
import type { AuditService } from './audit.service.ts'

/** Creates the GraphQL resolvers for the audit trail. */
export function createAuditResolvers(service: AuditService) {
  return {
    Query: {
      auditLogs: (_parent, { projectID, ...args }) => service.list(projectID, args),
      auditLogsConnection: (_parent, { projectID, ...args }) => service.page(projectID, args),
    },
  } satisfies Resolvers
}
