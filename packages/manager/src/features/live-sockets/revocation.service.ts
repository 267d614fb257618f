// Closes sockets whose user lost access. Every 1.5 s, the service reads the access versions of the projects
// that have sockets in this process, which is cheap. If a version has changed, the service reads the access
// of all sockets of that project again.
import type { Database } from '../../platform/postgres/database.ts'
import type { ReadProjectVersion } from '../../platform/postgres/project-version.ts'
import type { Logger } from '../../platform/log/log.ts'
import { closeCodes } from '../../platform/sockets/live-socket.ts'
import { type Access, type Admission, readAccess } from './admission.store.ts'
import { createDeactivationWatch } from './deactivation.service.ts'
import { createPeriodicCheck } from './periodic-check.service.ts'
import type { Member, Rooms } from './rooms.service.ts'

export type RevocationDeps = {
  database: Pick<Database, 'run'>
  readVersion: ReadProjectVersion
  rooms: Rooms
  log: Logger
  /** Interval at which all sockets are checked, even without a version change. */
  fullCheckIntervalMs: number
}

export type RevocationService = {
  /** Watches a socket that was admitted with this access. The socket is closed when the access is revoked. */
  watch(this: void, member: Member, row: Admission): void
  close(this: void): void
}

// A revoked role closes its sockets within 2 s: this interval, and the time to read the access.
const checkIntervalMs = 1_500
const batchSize = 256
// After a check, the project is not checked again for 10 times the duration of the check. This limits the load that a
// constantly changing project can cause.
const cooldownFactor = 10

/** `version` is null until the access of all sockets has been read in that version. */
type CheckedVersion = { version: string | null; cooldownUntil: number }

/** Deletes the keys for which `exists` is false. */
function dropMissing<Key>(
  keys: { keys: () => Iterable<Key>; delete: (key: Key) => boolean },
  exists: (key: Key) => boolean,
): void {
  for (const key of keys.keys()) if (!exists(key)) keys.delete(key)
}

export function createRevocationService(deps: RevocationDeps): RevocationService {
  const { rooms } = deps
  /** The access version per project in which the sockets were last checked. */
  const checkedVersions = new Map<string, CheckedVersion>()
  /** Sockets whose access was read in a different version. */
  const membersToRecheck = new Set<Member>()
  // Administrator rights do not belong to a project, so granting or revoking them changes no version.
  const administrators = new Set<Member>()
  let nextFullCheckAt = performance.now() + deps.fullCheckIntervalMs

  const applyAccess = (member: Member, access: Access | null): void => {
    membersToRecheck.delete(member)
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
      const batch = members.slice(from, from + batchSize).filter(isJoined)
      const rows = batch.length === 0 ? [] : await readAccess(deps.database.run, batch.map(toApplicationUser))
      for (const [index, member] of batch.entries()) applyAccess(member, rows[index] ?? null)
    }
  }
  const recheckProject = async (projectId: string): Promise<void> => {
    const at = performance.now()
    const before = checkedVersions.get(projectId)
    if (before !== undefined && at < before.cooldownUntil) return
    const version = (await deps.readVersion(projectId, 'access')) ?? ''
    if (before?.version === version) return
    // Changes during the check create a new version. Sockets that are admitted during the check must be checked again,
    // regardless of their version.
    checkedVersions.set(projectId, { version: null, cooldownUntil: 0 })
    await recheck(listMembers(rooms, projectId))
    const cooldownUntil = performance.now() + cooldownFactor * (performance.now() - at)
    checkedVersions.set(projectId, { version, cooldownUntil })
  }
  const check = async (): Promise<void> => {
    dropMissing(checkedVersions, (projectId) => rooms.projects.has(projectId))
    for (const set of [membersToRecheck, administrators]) dropMissing(set, isJoined)
    await Promise.all([...rooms.projects.keys()].map(recheckProject))
    await recheck([...membersToRecheck, ...administrators])
    if (performance.now() < nextFullCheckAt) return
    await recheck(listMembers(rooms, null))
    nextFullCheckAt = performance.now() + deps.fullCheckIntervalMs
  }
  const deactivations = createDeactivationWatch(deps)
  const timer = createPeriodicCheck(check, { intervalMs: checkIntervalMs, log: deps.log })
  return {
    watch: (member, { projectId, version, isAdministratorOnly }) => {
      timer.start()
      deactivations.start()
      if (isAdministratorOnly) administrators.add(member)
      const { version: checkedVersion } = checkedVersions.get(projectId) ?? {}
      if (checkedVersion === undefined) checkedVersions.set(projectId, { version, cooldownUntil: 0 })
      else if (checkedVersion !== version) membersToRecheck.add(member)
    },
    close: () => {
      timer.stop()
      deactivations.close()
    },
  }
}

const isJoined = (member: Member): boolean => member.room.members.has(member)

const toApplicationUser = ({ room, userId }: Member) => ({
  tenantId: room.tenant.id,
  applicationId: room.applicationId,
  userId,
})

/** Returns the sockets of a project, or all sockets if the project is null. */
function listMembers({ tenants }: Rooms, projectId: string | null): Member[] {
  const memberList: Member[] = []
  for (const tenant of tenants.values())
    if (projectId === null || tenant.projectId === projectId)
      for (const { members } of tenant.rooms.values()) for (const member of members) memberList.push(member)
  return memberList
}
