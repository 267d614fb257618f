import type { Resolvers } from '../../generated/graphql.ts'
import { yieldToEventLoop } from '../../platform/cache/encoded-json.ts'
import { badRequest } from '../../platform/errors.ts'
import { grouped, load } from '../../platform/graphql/loaders.ts'
import type { TriggersService } from './triggers.service.ts'

// An instant takes up to 0.2 ms in a time zone.
const maxInstantsPerRequest = 1_000
const requested = new WeakMap<object, number>()

/** Counts the instants that a request asks for, in all its fields; throws when they are too many. */
function countInstants(context: object, count: number): void {
  const total = (requested.get(context) ?? 0) + count
  requested.set(context, total)
  if (total > maxInstantsPerRequest)
    throw badRequest(
      `this document asks for more than ${maxInstantsPerRequest} instants of nextRuns; ask for fewer triggers or a smaller count`,
    )
}

/** GraphQL for triggers. Instants are computed a trigger at a time, with other requests in between. */
export function createTriggersResolvers(service: TriggersService) {
  return {
    Query: {
      triggers: (_parent, { application, ...args }) => service.list([application], args),
      trigger: (_parent, { id }) => service.get(id),
      triggerRuns: (_parent, { trigger, limit }) => service.listRuns(trigger, limit ?? undefined),
      nextRuns: async (_parent, { cronExpression }, context) => {
        countInstants(context, service.previewInstants)
        await yieldToEventLoop()
        return service.previewRuns(cronExpression)
      },
    },
    Application: {
      triggers: (application, args, context) =>
        load(context, `Application.triggers ${JSON.stringify(args)}`, application.id, async (ids) =>
          grouped(ids, await service.list(ids, args), (trigger) => trigger.applicationId),
        ),
    },
    Trigger: {
      nextRuns: async (trigger, { count }, context) => {
        const wanted = service.checkInstants(count ?? undefined)
        countInstants(context, wanted)
        await yieldToEventLoop()
        return service.nextRuns(trigger, wanted)
      },
    },
    Mutation: {
      createTrigger: (_parent, { applicationId, input }, { actor }) =>
        service.create(actor, applicationId, input),
      updateTrigger: (_parent, { id, input }, { actor }) => service.update(actor, id, input),
      deleteTrigger: (_parent, { id }, { actor }) => service.delete(actor, id),
    },
  } satisfies Resolvers
}
