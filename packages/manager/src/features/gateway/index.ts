// The ESB gateway: forwards calls of machine users to endpoints. Endpoints themselves and their transformations are not
// here (endpoints/), nor is the log of calls (esb-audit-logs/).
import type { Feature } from '../../feature.ts'
import { registerGatewayRoutes } from './gateway.routes.ts'
import { type GatewayDeps, createGatewayService } from './gateway.service.ts'

export function createGateway(deps: GatewayDeps): Feature {
  const service = createGatewayService(deps)
  return {
    name: 'gateway',
    role: 'gateway',
    routes: (server) => registerGatewayRoutes(server, service),
    close: () => deps.pools.close(),
    api: {},
  }
}
