import type { ApiServer } from '../../platform/http/declarations.ts'
import { readAuthorization } from '../../platform/http/headers.ts'
import type { MachineLoginService } from './machine-login.service.ts'
import { machineCheckSchema } from './machine-users.schemas.ts'

/** Registers GET /api/machine/check, which reports whether the presented credential is valid. */
export function registerMachineRoutes(server: ApiServer, login: MachineLoginService): void {
  const config = { policy: { open: 'the response describes only the presented credential' } }
  server.get('/api/machine/check', { config, schema: machineCheckSchema }, (request, reply) => {
    void reply.header('cache-control', 'no-store')
    return login.check(readAuthorization(request.raw), request.clientNetwork)
  })
}
