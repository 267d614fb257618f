// Sockets end when their user may no longer be there. Every two seconds the versions of the projects that have sockets here
// are read, which is next to nothing; where one has changed, the access of its sockets is read again.
import type { Database } from '../../platform/postgres/database.ts'
import type { ReadProjectVersion } from '../../platform/postgres/project-version.ts'
import type { Logger } from '../../platform/log/log.ts'
import { closeCodes } from '../../platform/sockets/live-socket.ts'
import { type Access, type Admission, readAccess } from './admission.store.ts'
import type { Member, Rooms } from './rooms.service.ts'

export type RevocationDeps = {
  database: Pick<Database, 'run'>
  readVersion: ReadProjectVersion
  rooms: Rooms
  log: Logger
  /** How often everyone is checked, whatever has changed. */
  fullEveryMs: number
}

export type RevocationService = {
  /** The socket was admitted by this row; from now on it ends when that is no longer so. */
  watch(this: void, member: Member, row: Admission): void
  close(this: void): void
}

const lookEveryMs = 2_000
const batchSize = 256
// A project that changes all the time takes no more than so much of the time.
const restFactor = 10

/** The version is null until all sockets of the project were read in it. */
type Known = { version: string | null; restsUntil: number }

export function createRevocationService(deps: RevocationDeps): RevocationService {
  const { rooms } = deps
  /** The version of each project that the access of its sockets was read in. */
  const known = new Map<string, Known>()
  /** Sockets whose access was read in another version. */
  const doubtful = new Set<Member>()
  // The rights of administrators are of no project, so no version changes with them.
  const administrators = new Set<Member>()
  let fullAt = performance.now() + deps.fullEveryMs

  const settle = (member: Member, access: Access | null): void => {
    doubtful.delete(member)
    if (access === null || !access.hasAccess) {
      administrators.delete(member)
      return member.socket.end(closeCodes.refused)
    }
    member.role = access.role
    if (access.isAdministratorOnly) administrators.add(member)
    else administrators.delete(member)
  }
  const recheck = async (members: readonly Member[]): Promise<void> => {
    for (let from = 0; from < members.length; from += batchSize) {
      const batch = members.slice(from, from + batchSize).filter(isHere)
      const rows = batch.length === 0 ? [] : await readAccess(deps.database.run, batch.map(placeOf))
      for (const [index, member] of batch.entries()) settle(member, rows[index] ?? null)
    }
  }
  const recheckProject = async (projectId: string): Promise<void> => {
    const at = performance.now()
    const before = known.get(projectId)
    if (before !== undefined && at < before.restsUntil) return
    const version = (await deps.readVersion(projectId, 'access')) ?? ''
    if (before?.version === version) return
    // What changes from here on makes the next version. Who is admitted meanwhile, by whatever version, is doubtful.
    known.set(projectId, { version: null, restsUntil: 0 })
    await recheck(membersOf(rooms, projectId))
    const restsUntil = performance.now() + restFactor * (performance.now() - at)
    known.set(projectId, { version, restsUntil })
  }
  const look = async (): Promise<void> => {
    for (const projectId of known.keys()) if (!rooms.projects.has(projectId)) known.delete(projectId)
    for (const set of [doubtful, administrators])
      for (const member of set) if (!isHere(member)) set.delete(member)
    await Promise.all([...rooms.projects.keys()].map(recheckProject))
    await recheck([...doubtful, ...administrators])
    if (performance.now() < fullAt) return
    await recheck(membersOf(rooms, null))
    fullAt = performance.now() + deps.fullEveryMs
  }
  const timer = createLook(look, deps.log)
  return {
    watch: (member, { projectId, version, isAdministratorOnly }) => {
      timer.start()
      if (isAdministratorOnly) administrators.add(member)
      const { version: other } = known.get(projectId) ?? {}
      if (other === undefined) known.set(projectId, { version, restsUntil: 0 })
      else if (other !== version) doubtful.add(member)
    },
    close: timer.stop,
  }
}

/** Looks again and again, one at a time; what fails is tried again, and closes no socket. */
function createLook(look: () => Promise<void>, log: Logger) {
  let timer: NodeJS.Timeout | undefined
  let [isLooking, hasFailed] = [false, false]
  const run = async (): Promise<void> => {
    if (isLooking) return
    isLooking = true
    try {
      await look()
      hasFailed = false
    } catch (error) {
      if (!hasFailed) log.warn({ err: error }, 'the access of websockets cannot be checked; they stay open')
      hasFailed = true
    } finally {
      isLooking = false
    }
  }
  return {
    start: (): void => void (timer ??= setInterval(() => void run(), lookEveryMs).unref()),
    stop: (): void => clearInterval(timer),
  }
}

const isHere = (member: Member): boolean => member.room.members.has(member)

const placeOf = ({ room, userId }: Member) => ({
  tenantId: room.tenant.id,
  applicationId: room.applicationId,
  userId,
})

/** The sockets of a project, or all of them. */
function membersOf({ tenants }: Rooms, projectId: string | null): Member[] {
  const found: Member[] = []
  for (const tenant of tenants.values())
    if (projectId === null || tenant.projectId === projectId)
      for (const { members } of tenant.rooms.values()) for (const member of members) found.push(member)
  return found
}
