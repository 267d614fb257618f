// Admits sockets. A socket joins its room before its access is read, so that hints sent during admission are
// not lost. A hint is a best-effort message to open sockets. The first frame of a socket is hello.
import { unavailable } from '../../platform/errors.ts'
import type { Clock } from '../../platform/clock.ts'
import { createCoalescer } from '../../platform/postgres/coalesce.ts'
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
const maxJoiningCount = 4_000

export function createAdmissionService(deps: AdmissionDeps) {
  const { hub, revocation, metrics } = deps
  const readAdmission = createCoalescer<ApplicationUser, Admission>({
    getKey: ({ tenantId, applicationId, userId }) => `${tenantId}${applicationId}${userId}`,
    run: (users) => readAdmissions(deps.database.run, users, deps.retentionDays),
  })
  const warn = createRateLimitedWarning(deps.log)
  let joiningCount = 0
  const refuse = (limit: 'project' | 'joining', text: string): never => {
    metrics.refused.inc({ limit })
    throw unavailable(text)
  }
  const admitMember = async (member: Member): Promise<void> => {
    const { socket, room, userId } = member
    const { tenant, applicationId } = room
    await hub.waitForSubscription(tenant.id)
    const admission = await readAdmission({ tenantId: tenant.id, applicationId, userId })
    if (admission === null || !admission.hasAccess) return socket.end(closeCodes.refused)
    hub.rooms.setProject(tenant, admission.projectId)
    if (hub.rooms.getProjectSize(tenant.id) > deps.maxPerProject) return socket.end(closeCodes.again)
    member.role = admission.role
    revocation.watch(member, admission)
    socket.deliver(prepareFrame(buildHelloFrame(member, admission.unread, deps)), false)
    hub.release(member)
  }
  return {
    /** Throws 503 if this process cannot accept another socket of the tenant. */
    checkCapacity: (tenantId: string): void => {
      if (joiningCount >= maxJoiningCount)
        refuse('joining', 'too many websockets are connecting; reconnect later')
      if (hub.rooms.getProjectSize(tenantId) >= deps.maxPerProject)
        refuse('project', 'the project has reached its websocket limit in this process; reconnect later')
    },
    /** Admits the socket, or closes it with a code that states the reason. */
    admit: async (socket: LiveSocket, user: ApplicationUser): Promise<void> => {
      const member = hub.enter({ socket, ...user })
      if (member === null) return socket.end(closeCodes.tooMany)
      joiningCount++
      try {
        await admitMember(member)
      } catch (error) {
        warn(error)
        socket.end(closeCodes.again)
      } finally {
        joiningCount--
      }
    },
  }
}

const warnEveryMs = 1_000

/**
 * Limits warnings to one per second, because thousands of sockets can fail while the database is unreachable.
 */
function createRateLimitedWarning(log: Logger): (error: unknown) => void {
  let quietUntil = 0
  return (error) => {
    if (performance.now() < quietUntil) return
    quietUntil = performance.now() + warnEveryMs
    log.warn({ err: error }, 'cannot admit a websocket; closing it')
  }
}

const buildHelloFrame = ({ connectionId }: Member, unread: boolean, deps: AdmissionDeps): string =>
  JSON.stringify({
    type: 'hello',
    connection_id: connectionId,
    server_time: deps.clock.now().toISOString(),
    ping_interval: deps.pingSeconds,
    unread,
    reconnect_jitter_ms: deps.reconnectJitterMs,
  })
