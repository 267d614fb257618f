import type { Resolvers } from '../../generated/graphql.ts'
import type { GraphqlContext } from '../../policy/guard-graphql.ts'
import { createContentCharge } from '../../platform/graphql/response-budget.ts'
import { load } from '../../platform/graphql/loaders.ts'
import type { CallPagesService } from './logged-call-pages.service.ts'
import type { CallSeriesService } from './call-series.service.ts'
import type { LoggedCallsService } from './logged-calls.service.ts'

type Call = Parameters<LoggedCallsService['keyOf']>[0]
type Part = Parameters<LoggedCallsService['findContents']>[0]

/** Creates the GraphQL resolvers for logged calls and their counts. Headers and bodies are read only if requested. */
export function createLoggedCallsResolvers(
  service: LoggedCallsService,
  { pages, series }: { pages: CallPagesService; series: CallSeriesService },
) {
  const createContentResolver =
    <Name extends Part>(part: Name) =>
    async (call: Call, _args: object, context: GraphqlContext) => {
      const bytes = call[`${part}Bytes`]
      if (bytes === null) return null
      createContentCharge(context)(bytes)
      return load(context, `ESBAuditLog.${part}`, service.keyOf(call), (keys) =>
        service.findContents(part, keys),
      )
    }
  return {
    Query: {
      esbAuditLogs: (_parent, { applicationId, ...args }) => service.list(applicationId, args),
      esbAuditLogsConnection: (_parent, { applicationId, ...args }) => pages.page(applicationId, args),
      callSeries: (_parent, args) => series.list(args),
    },
    ESBAuditLog: {
      timestamp: (call) => call.createdAt,
      sourceIP: (call) => call.sourceIp,
      targetURL: (call) => call.targetUrl,
      transformationApplied: (call) => call.transformed,
      test: (call) => call.isTest,
      requestHeaders: createContentResolver('requestHeaders'),
      requestBody: createContentResolver('requestBody'),
      responseHeaders: createContentResolver('responseHeaders'),
      responseBody: createContentResolver('responseBody'),
    },
  } satisfies Resolvers
}
