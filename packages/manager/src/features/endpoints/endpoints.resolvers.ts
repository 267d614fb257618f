import type {
  EndpointAuthType,
  EndpointInputMessageType,
  EndpointLogLevel,
  EndpointOutputMessageType,
  Resolvers,
} from '../../generated/graphql.ts'
import { createContentCharge } from '../../platform/graphql/response-budget.ts'
import { groupByKeys, load } from '../../platform/graphql/loaders.ts'
import type { EndpointsService } from './endpoints.service.ts'
import type { PreviewService } from './preview.service.ts'

/**
 * Creates the GraphQL resolvers for endpoints. They never read secrets, and they read templates only when requested.
 */
export function createEndpointsResolvers(service: EndpointsService, previews: PreviewService) {
  return {
    Query: {
      endpoints: (_parent, { application, ...args }) => service.list([application], args),
      endpoint: (_parent, { application, id }) => service.get(application, id),
    },
    Application: {
      endpoints: (application, args, context) =>
        load(context, `Application.endpoints ${JSON.stringify(args)}`, application.id, async (ids) =>
          groupByKeys(ids, await service.list(ids, args), (endpoint) => endpoint.applicationId),
        ),
    },
    Endpoint: {
      consumeURL: (endpoint) => endpoint.consumeUrl,
      authType: (endpoint) => endpoint.authType as EndpointAuthType,
      authPassword: () => null,
      authToken: () => null,
      inputMessageType: (endpoint) => endpoint.inputMessageType as EndpointInputMessageType | null,
      outputMessageType: (endpoint) => endpoint.outputMessageType as EndpointOutputMessageType | null,
      transformationTemplate: async ({ id }, _args, context) => {
        const name = 'Endpoint.transformationTemplate'
        createContentCharge(context)(await load(context, `${name} bytes`, id, service.findTemplateBytes))
        return load(context, name, id, service.findTemplates)
      },
      logLevel: (endpoint) => endpoint.logLevel as EndpointLogLevel,
    },
    Mutation: {
      createEndpoint: (_parent, { applicationId, input }, { actor }) =>
        service.create(actor, applicationId, input),
      updateEndpoint: (_parent, { id, input }, { actor }) => service.update(actor, id, input),
      deleteEndpoint: (_parent, { id, expectedRevision }, { actor }) =>
        service.delete(actor, id, expectedRevision),
      previewESBTransform: (_parent, { endpointId, input }, { actor }) =>
        previews.preview(actor, endpointId, input),
    },
  } satisfies Resolvers
}
