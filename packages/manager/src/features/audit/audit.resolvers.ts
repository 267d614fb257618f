import type { Resolvers } from '../../generated/graphql.ts'
import { batchedRow } from '../../platform/graphql/batch.ts'
import type { UsersApi } from '../users/index.ts'
import type { AuditService } from './audit.service.ts'

/** GraphQL for the audit trail. */
export function createAuditResolvers(service: AuditService, users: UsersApi) {
  return {
    Query: {
      auditLogs: (_parent, { projectID, ...args }) => service.list(projectID, args),
    },
    AuditLog: {
      user: (entry, _args, context) =>
        entry.userId === null ? null : batchedRow(context, 'user', entry.userId, users.findMany),
    },
  } satisfies Resolvers
}
