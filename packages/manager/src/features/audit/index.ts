// The audit trail for people: the list of a project's entries and the job that seals the chains. Appending is not here
// (platform/audit/append.ts), nor is verification (platform/audit/verify.ts, used by the command line).
import type { Feature } from '../../feature.ts'
import { readSdl } from '../../platform/graphql/schema.ts'
import type { UsersApi } from '../users/index.ts'
import { createAuditResolvers } from './audit.resolvers.ts'
import { type AuditDeps, createAuditService } from './audit.service.ts'

export function createAuditTrail(deps: AuditDeps & { users: UsersApi }): Feature {
  const service = createAuditService(deps)
  return {
    name: 'audit',
    sdl: readSdl('./audit.graphql', import.meta.url),
    resolvers: createAuditResolvers(service, deps.users),
    jobs: [{ name: 'audit-checkpoint', everyMs: deps.checkpointIntervalMs, run: service.seal }],
    api: {},
  }
}
