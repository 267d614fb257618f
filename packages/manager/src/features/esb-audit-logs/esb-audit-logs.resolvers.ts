import type { Resolvers } from '../../generated/graphql.ts'
import type { GraphqlContext } from '../../policy/guard-graphql.ts'
import { answerBudget } from '../../platform/graphql/answer-budget.ts'
import { batched, batchedRow } from '../../platform/graphql/batch.ts'
import type { ApplicationsApi } from '../applications/index.ts'
import type { EndpointsApi } from '../endpoints/index.ts'
import type { MachineUsersApi } from '../machine-users/index.ts'
import type { EsbAuditLogsService } from './esb-audit-logs.service.ts'

export type Owners = { applications: ApplicationsApi; endpoints: EndpointsApi; machineUsers: MachineUsersApi }
type Call = Parameters<EsbAuditLogsService['keyOf']>[0]
type Part = Parameters<EsbAuditLogsService['findContents']>[0]

/** GraphQL for logged calls. Their contents are read only where they are asked for. */
export function createEsbAuditLogsResolvers(
  service: EsbAuditLogsService,
  { applications, endpoints, machineUsers }: Owners,
) {
  const contentOf =
    <Name extends Part>(part: Name) =>
    async (call: Call, _args: object, context: GraphqlContext) => {
      const bytes = call[`${part}Bytes`]
      if (bytes === null) return null
      answerBudget(context)(bytes)
      return batched(context, `ESBAuditLog.${part}`, service.keyOf(call), (keys) =>
        service.findContents(part, keys),
      )
    }
  return {
    Query: {
      esbAuditLogs: (_parent, { applicationId, ...args }) => service.list(applicationId, args),
    },
    ESBAuditLog: {
      timestamp: (call) => call.createdAt,
      endpoint: (call, _args, context) =>
        batchedRow(context, 'endpoint', call.endpointId, endpoints.findMany),
      application: (call, _args, context) =>
        batchedRow(context, 'application', call.applicationId, applications.findMany),
      machineUser: (call, _args, context) =>
        batchedRow(context, 'machine user', call.machineUserId, machineUsers.findMany),
      sourceIP: (call) => call.sourceIp,
      targetURL: (call) => call.targetUrl,
      transformationApplied: (call) => call.transformed,
      requestHeaders: contentOf('requestHeaders'),
      requestBody: contentOf('requestBody'),
      responseHeaders: contentOf('responseHeaders'),
      responseBody: contentOf('responseBody'),
    },
  } satisfies Resolvers
}
