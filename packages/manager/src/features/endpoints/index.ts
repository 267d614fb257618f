// This feature manages ESB endpoints and the access of machine users to them. transformations/ renders their
// templates, gateway/ forwards calls, and call-log/ records them.
import { defineFeature } from '../../feature.ts'
import { readSdl } from '../../platform/graphql/schema.ts'
import { createIdFinder } from '../../policy/scopes.ts'
import type { CallLogApi } from '../call-log/index.ts'
import { createEndpointAccessResolvers } from './endpoint-access.resolvers.ts'
import { createEndpointAccessService } from './endpoint-access.service.ts'
import { createEndpointsResolvers } from './endpoints.resolvers.ts'
import { type EndpointsDeps, createEndpointsService } from './endpoints.service.ts'
import { type PreviewDeps, createPreviewService } from './preview.service.ts'

type Deps = Omit<EndpointsDeps, 'countLoggedCalls'> & PreviewDeps & { callLog: CallLogApi }

export const endpoints = defineFeature({
  name: 'endpoints',
  sdl: readSdl(import.meta.url, './endpoints.graphql', './endpoint-access.graphql', './preview.graphql'),
  sealedColumns: [{ table: 'endpoints', columns: ['auth_password', 'auth_token'] }],
  scopes: {
    ENDPOINT: {
      noun: 'endpoint',
      view: 'ENDPOINT_READ',
      find: createIdFinder('endpoints', { application: 'application_id' }),
    },
    MACHINE_USER2ENDPOINT: {
      noun: 'machineUser2Endpoint',
      view: 'ENDPOINT_ACCESS_READ',
      find: createIdFinder('machine_user2endpoints'),
    },
  },
  constraints: {
    endpoints_consume_url_key: [
      'conflict',
      'the application already has an endpoint with this consumeURL',
      'input.consumeURL',
    ],
    endpoints_application_fkey: ['not_found', 'application not found'],
    machine_user2endpoints_pair_key: [
      'conflict',
      'the machine user already has an access row for this endpoint; update it with updateMachineUser2Endpoint',
    ],
    machine_user2endpoints_machine_user_fkey: ['not_found', 'machine user not found'],
    machine_user2endpoints_endpoint_fkey: ['not_found', 'endpoint not found'],
  },
  create: (deps: Deps) => {
    const service = createEndpointsService({ ...deps, countLoggedCalls: deps.callLog.countByEndpoint })
    const endpointResolvers = createEndpointsResolvers(service, createPreviewService(deps))
    const accessResolvers = createEndpointAccessResolvers(createEndpointAccessService(deps))
    return {
      resolvers: {
        ...endpointResolvers,
        ...accessResolvers,
        Query: { ...endpointResolvers.Query, ...accessResolvers.Query },
        Mutation: { ...endpointResolvers.Mutation, ...accessResolvers.Mutation },
      },
      links: { Endpoint: { noun: 'endpoint', findMany: service.findMany } },
      api: {},
    }
  },
})
