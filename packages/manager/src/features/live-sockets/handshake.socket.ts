import type { ApiServer } from '../../platform/http/declarations.ts'
import type { TenantUser } from '../../platform/http/identity.ts'
import { parseUuid } from '../../platform/ids.ts'
import type { Sockets } from '../../platform/sockets/sockets.ts'
import { closeCodes } from '../../platform/sockets/live-socket.ts'
import type { AdmissionService } from './admission.service.ts'
import { socketSchema } from './socket.schemas.ts'

/** Registers the WebSocket route for users who have an application open. */
export function registerSocket(
  server: ApiServer,
  { sockets, admission }: { sockets: Sockets; admission: AdmissionService },
): void {
  server.addHook('preClose', sockets.drain)
  server.get(
    '/api/proxy/comms/:appID/ws',
    {
      config: {
        policy: { tenantUser: 'live hints for the signed-in user in the tenant and application' },
        acceptsUpgrade: true,
      },
      schema: socketSchema,
    },
    (request, reply) => {
      const { userId, tenantId } = request.tenantUser as TenantUser
      admission.checkCapacity(tenantId)
      const socket = sockets.accept(request, reply)
      const applicationId = parseUuid(request.params.appID)
      // Browsers do not expose the status of a failed handshake, so the reason is sent as a close code.
      if (applicationId === null) socket?.end(closeCodes.refused)
      else if (socket !== null) void admission.admit(socket, { tenantId, applicationId, userId })
    },
  )
}
