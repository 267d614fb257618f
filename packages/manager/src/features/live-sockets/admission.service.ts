// This service admits sockets. A socket joins its room before its access is read, so that hints sent during admission
// are not lost. A hint is a message to open sockets. The first frame is hello.
import { unavailable } from '../../platform/errors.ts'
import type { Clock } from '../../platform/clock.ts'
import { createCoalesced } from '../../platform/postgres/coalesce.ts'
import type { Database } from '../../platform/postgres/database.ts'
import type { Logger } from '../../platform/log/log.ts'
import { prepareFrame } from '../../platform/sockets/frames.ts'
import { type LiveSocket, closeCodes } from '../../platform/sockets/live-socket.ts'
import { type Admission, type ApplicationUser, readAdmissions } from './admission.store.ts'
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
  /** Maximum number of sockets per project in this process. */
  maxPerProject: number
  retentionDays: number
  pingSeconds: number
  reconnectJitterMs: number
}

export type AdmissionService = ReturnType<typeof createAdmissionService>

// Maximum number of sockets that wait for admission. Each of them causes one lookup.
const maxJoining = 4_000

export function createAdmissionService(deps: AdmissionDeps) {
  const { hub, revocation, metrics } = deps
  const read = createCoalesced<ApplicationUser, Admission>({
    keyOf: ({ tenantId, applicationId, userId }) => `${tenantId}${applicationId}${userId}`,
    run: (users) => readAdmissions(deps.database.run, users, deps.retentionDays),
  })
  const warn = createSparseWarning(deps.log)
  let joining = 0
  const refuse = (limit: 'project' | 'joining', text: string): never => {
    metrics.refused.inc({ limit })
    throw unavailable(text)
  }
  const admitMember = async (member: Member): Promise<void> => {
    const { socket, room, userId } = member
    const { tenant, applicationId } = room
    await hub.listening(tenant.id)
    const found = await read({ tenantId: tenant.id, applicationId, userId })
    if (found === null || !found.hasAccess) return socket.end(closeCodes.refused)
    hub.rooms.setProject(tenant, found.projectId)
    if (hub.rooms.projectSize(tenant.id) > deps.maxPerProject) return socket.end(closeCodes.again)
    member.role = found.role
    revocation.watch(member, found)
    socket.deliver(prepareFrame(helloText(member, found.unread, deps)), false)
    hub.release(member)
  }
  return {
    /** Throws 503 if this process cannot accept another socket of the tenant. */
    checkCapacity: (tenantId: string): void => {
      if (joining >= maxJoining) refuse('joining', 'too many websockets are connecting; reconnect later')
      if (hub.rooms.projectSize(tenantId) >= deps.maxPerProject)
        refuse('project', 'the project has reached its websocket limit in this process; reconnect later')
    },
    /** Admits the socket, or closes it with a code for the reason. */
    admit: async (socket: LiveSocket, user: ApplicationUser): Promise<void> => {
      const member = hub.enter({ socket, ...user })
      if (member === null) return socket.end(closeCodes.tooMany)
      joining++
      try {
        await admitMember(member)
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

/** Limits warnings to one per second: if the database is unreachable, thousands of sockets can fail. */
function createSparseWarning(log: Logger): (error: unknown) => void {
  let quietUntil = 0
  return (error) => {
    if (performance.now() < quietUntil) return
    quietUntil = performance.now() + warnEveryMs
    log.warn({ err: error }, 'cannot admit websocket; closing it')
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
