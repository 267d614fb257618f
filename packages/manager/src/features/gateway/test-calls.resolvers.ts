import type { Resolvers } from '../../generated/graphql.ts'
import { createContentCharge } from '../../platform/graphql/response-budget.ts'
import type { TestCallsService } from './test-calls.service.ts'

/** Creates the GraphQL resolver for test calls. */
export function createTestCallsResolvers(service: TestCallsService) {
  return {
    Mutation: {
      testEndpoint: async (_parent, { endpointId, input }, context) => {
        const { requestId, contents, ...result } = await service.call(context.actor, endpointId, input)
        const { responseHeaders = null, responseBody = null } = contents ?? {}
        createContentCharge(context)(JSON.stringify([responseHeaders, responseBody]).length)
        return {
          requestId,
          responseStatus: result.status,
          durationMs: result.durationMs,
          transformationApplied: result.transformed,
          failure: result.failure,
          responseHeaders: responseHeaders === null ? null : [...responseHeaders],
          responseBody,
        }
      },
    },
  } satisfies Resolvers
}
