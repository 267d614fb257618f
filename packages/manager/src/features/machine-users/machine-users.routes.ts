import type { ApiServer } from '../../platform/http/declarations.ts'
import { presentedAuthorization } from '../../platform/http/headers.ts'
import type { MachineLoginService } from './machine-login.service.ts'
import { machineCheckSchema } from './machine-users.schemas.ts'

/** GET /api/machine/check: whether the presented credential is valid. */
export function registerMachineRoutes(server: ApiServer, login: MachineLoginService): void {
  const config = { policy: { open: 'it tells callers only about the credential they present' } }
  server.get('/api/machine/check', { config, schema: machineCheckSchema }, (request, reply) => {
    void reply.header('cache-control', 'no-store')
    return login.check(presentedAuthorization(request.raw), request.clientNetwork)
  })
}
