import type { Resolvers } from '../../generated/graphql.ts'
import { yieldToEventLoop } from '../../platform/cache/encoded-json.ts'
import { badRequest } from '../../platform/errors.ts'
import { groupByKeys, load } from '../../platform/graphql/loaders.ts'
import type { RunPagesService } from './trigger-run-pages.service.ts'
import type { RunSeriesService } from './run-series.service.ts'
import type { ManualRunsService } from './manual-runs.service.ts'
import type { TriggersService } from './triggers.service.ts'

// Computing an instant takes up to 0.2 ms in a time zone.
const maxInstantsPerRequest = 1_000
const requestedCounts = new WeakMap<object, number>()

/** Counts the instants that all fields of a request compute. Throws 400 if there are too many. */
function countInstants(context: object, count: number): void {
  const total = (requestedCounts.get(context) ?? 0) + count
  requestedCounts.set(context, total)
  if (total > maxInstantsPerRequest)
    throw badRequest(
      `this document requests more than ${maxInstantsPerRequest} times in nextRuns; request fewer triggers or a smaller count`,
    )
}

/**
 * Creates the GraphQL resolvers for triggers. Instants are computed one trigger at a time, and other requests run
 * between them.
 */
export function createTriggersResolvers(
  service: TriggersService,
  {
    pages,
    series,
    manualRuns,
  }: { pages: RunPagesService; series: RunSeriesService; manualRuns: ManualRunsService },
) {
  return {
    Query: {
      triggers: (_parent, { application, ...args }) => service.list([application], args),
      trigger: (_parent, { id }) => service.get(id),
      triggerRuns: (_parent, { trigger, ...args }) => service.listRuns(trigger, args),
      triggerRunsConnection: (_parent, { trigger, ...args }) => pages.page(trigger, args),
      runSeries: (_parent, args) => series.list(args),
      nextRuns: async (_parent, { cronExpression }, context) => {
        countInstants(context, service.previewInstants)
        await yieldToEventLoop()
        return service.previewRuns(cronExpression)
      },
    },
    Application: {
      triggers: (application, args, context) =>
        load(context, `Application.triggers ${JSON.stringify(args)}`, application.id, async (ids) =>
          groupByKeys(ids, await service.list(ids, args), (trigger) => trigger.applicationId),
        ),
    },
    Trigger: {
      nextRuns: async (trigger, { count }, context) => {
        const checkedCount = service.checkInstants(count ?? undefined)
        countInstants(context, checkedCount)
        await yieldToEventLoop()
        return service.nextRuns(trigger, checkedCount)
      },
    },
    Mutation: {
      createTrigger: (_parent, { applicationId, input }, { actor }) =>
        service.create(actor, applicationId, input),
      updateTrigger: (_parent, { id, input }, { actor }) => service.update(actor, id, input),
      deleteTrigger: (_parent, { id, expectedRevision }, { actor }) =>
        service.delete(actor, id, expectedRevision),
      runTrigger: (_parent, { id, ...input }, { actor }) => manualRuns.run(actor, id, input),
      retryTriggerRun: (_parent, { id }, { actor }) => manualRuns.retry(actor, id),
    },
  } satisfies Resolvers
}
