// How a socket begins. It is in its room first, so that no hint falls between; then it is read whether it may be there. The
// first frame is hello.
import { unavailable } from '../../platform/errors.ts'
import type { Clock } from '../../platform/clock.ts'
import { createCoalesced } from '../../platform/postgres/coalesce.ts'
import type { Database } from '../../platform/postgres/database.ts'
import type { Logger } from '../../platform/log/log.ts'
import { prepareFrame } from '../../platform/sockets/frames.ts'
import { type LiveSocket, closeCodes } from '../../platform/sockets/live-socket.ts'
import { type Admission, type Place, readAdmissions } from './admission.store.ts'
import type { SocketMetrics } from './sockets.metrics.ts'
import type { Hub } from './hub.service.ts'
import type { RevocationService } from './revocation.service.ts'
import type { Member } from './rooms.service.ts'

export type AdmissionDeps = {
  database: Pick<Database, 'run'>
  hub: Hub
  revocation: RevocationService
  clock: Clock
  log: Logger
  metrics: SocketMetrics
  /** Sockets that one project may have here. */
  maxOfProject: number
  retentionDays: number
  pingSeconds: number
  reconnectJitterMs: number
}

export type AdmissionService = ReturnType<typeof createAdmissionService>

// Sockets that wait to be admitted; each reads once.
const maxJoining = 4_000

export function createAdmissionService(deps: AdmissionDeps) {
  const { hub, revocation, metrics } = deps
  const read = createCoalesced<Place, Admission>({
    keyOf: ({ tenantId, applicationId, userId }) => `${tenantId}${applicationId}${userId}`,
    run: (places) => readAdmissions(deps.database.run, places, deps.retentionDays),
  })
  const warn = createSparseWarning(deps.log)
  let joining = 0
  const refuse = (limit: 'project' | 'joining', text: string): never => {
    metrics.refused.inc({ limit })
    throw unavailable(text)
  }
  const admit = async (member: Member): Promise<void> => {
    const { socket, room, userId } = member
    const { tenant, applicationId } = room
    await hub.listening(tenant.id)
    const found = await read({ tenantId: tenant.id, applicationId, userId })
    if (found === null || !found.hasAccess) return socket.end(closeCodes.refused)
    hub.rooms.place(tenant, found.projectId)
    if (hub.rooms.sizeAround(tenant.id) > deps.maxOfProject) return socket.end(closeCodes.again)
    member.role = found.role
    revocation.watch(member, found)
    socket.deliver(prepareFrame(helloText(member, found.unread, deps)), false)
    hub.release(member)
  }
  return {
    /** Throws 503 when this process has no room for one more socket of the tenant. */
    checkRoom: (tenantId: string): void => {
      if (joining >= maxJoining) refuse('joining', 'too many websockets open at once; connect again later')
      if (hub.rooms.sizeAround(tenantId) >= deps.maxOfProject)
        refuse('project', 'the project has as many websockets as it may have here; connect again later')
    },
    /** Admits the socket, or ends it with a code that says why. */
    begin: async (socket: LiveSocket, place: Place): Promise<void> => {
      const member = hub.enter({ socket, ...place })
      if (member === null) return socket.end(closeCodes.tooMany)
      joining++
      try {
        await admit(member)
      } catch (error) {
        warn(error)
        socket.end(closeCodes.again)
      } finally {
        joining--
      }
    },
  }
}

const warnEveryMs = 1_000

/** A database that is away fails thousands of sockets; one line each second says so. */
function createSparseWarning(log: Logger): (error: unknown) => void {
  let quietUntil = 0
  return (error) => {
    if (performance.now() < quietUntil) return
    quietUntil = performance.now() + warnEveryMs
    log.warn({ err: error }, 'a websocket could not be admitted')
  }
}

const helloText = ({ connectionId }: Member, unread: boolean, deps: AdmissionDeps): string =>
  JSON.stringify({
    type: 'hello',
    connection_id: connectionId,
    server_time: deps.clock.now().toISOString(),
    ping_interval: deps.pingSeconds,
    unread,
    reconnect_jitter_ms: deps.reconnectJitterMs,
  })
