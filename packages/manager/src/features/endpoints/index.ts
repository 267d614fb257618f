// Endpoints of the ESB, and which machine users may call them. Forwarding the calls and logging them is not here
// (gateway/, esb-audit-logs/).
import type { Feature } from '../../feature.ts'
import { readSdl } from '../../platform/graphql/schema.ts'
import type { MachineUsersApi } from '../machine-users/index.ts'
import { createCallRendering } from './call-rendering.service.ts'
import { createEndpointAccessResolvers } from './endpoint-access.resolvers.ts'
import { createEndpointAccessService } from './endpoint-access.service.ts'
import { createEndpointsResolvers } from './endpoints.resolvers.ts'
import { type EndpointsDeps, type EndpointsService, createEndpointsService } from './endpoints.service.ts'
import { type PreviewDeps, createPreviewService } from './preview.service.ts'
import { type TransformOptions, createTransformService } from './transform.service.ts'

export type EndpointsApi = Pick<EndpointsService, 'findMany' | 'get'> & {
  render: ReturnType<typeof createCallRendering>
}

export type Deps = EndpointsDeps &
  PreviewDeps & { machineUsers: MachineUsersApi; transformOptions: TransformOptions }

export function createEndpoints(deps: Deps): Feature<EndpointsApi> {
  const transform = createTransformService(deps.transformOptions)
  const service = createEndpointsService(deps, transform)
  const access = createEndpointAccessService(deps)
  const own = createEndpointsResolvers(service, createPreviewService(deps, transform), deps.applications)
  const rows = createEndpointAccessResolvers(access, service, deps.machineUsers)
  return {
    name: 'endpoints',
    sdl: ['./endpoints.graphql', './endpoint-access.graphql', './preview.graphql']
      .map((file) => readSdl(file, import.meta.url))
      .join('\n'),
    resolvers: {
      ...own,
      ...rows,
      Query: { ...own.Query, ...rows.Query },
      Mutation: { ...own.Mutation, ...rows.Mutation },
    },
    constraints: {
      endpoints_consume_url_key: [
        'conflict',
        'an endpoint with this consumeURL exists already in the application',
      ],
      endpoints_application_fkey: ['not_found', 'application not found'],
      machine_user2endpoints_pair_key: [
        'conflict',
        'the machine user has a row for this endpoint already; update it with updateMachineUser2Endpoint',
      ],
      machine_user2endpoints_machine_user_fkey: ['not_found', 'machine user not found'],
      machine_user2endpoints_endpoint_fkey: ['not_found', 'endpoint not found'],
    },
    close: transform.close,
    api: { findMany: service.findMany, get: service.get, render: createCallRendering(transform) },
  }
}
