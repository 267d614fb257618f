import type { FastifyInstance } from 'fastify'
import { presentedAuthorization } from '../../platform/http/headers.ts'
import type { MachineLoginService } from './machine-login.service.ts'

/** GET /api/machine/check: whether the presented credential holds. */
export function registerMachineRoutes(server: FastifyInstance, login: MachineLoginService): void {
  const policy = { open: 'it tells a caller only about the credential he presents' }
  server.get('/api/machine/check', { config: { policy } }, (request, reply) => {
    void reply.header('cache-control', 'no-store')
    return login.check(presentedAuthorization(request.raw), request.clientNetwork)
  })
}
