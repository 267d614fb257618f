// Closes the sockets of deactivated people within 2 s. A person can have sockets in several projects, and the check of a
// project may pause after an expensive run, so this check is separate. It reads only recent deactivations.
import type { Database } from '../../platform/postgres/database.ts'
import type { Logger } from '../../platform/log/log.ts'
import { closeCodes } from '../../platform/sockets/live-socket.ts'
import { type Deactivation, readRecentDeactivations } from './deactivations.store.ts'
import { createPeriodicCheck } from './periodic-check.service.ts'
import type { Member, Room, Rooms } from './rooms.service.ts'

export type DeactivationDeps = { database: Pick<Database, 'run'>; rooms: Rooms; log: Logger }

const checkIntervalMs = 500

/**
 * A socket joins its room before its access is read. A deactivation is therefore either seen by that read, or seen here
 * while the socket is in its room, so each deactivation needs to be handled only once.
 */
export function createDeactivationWatch({ database, rooms, log }: DeactivationDeps) {
  let handled: ReadonlyMap<string, string> = new Map()
  const check = async (): Promise<void> => {
    if (rooms.tenants.size === 0) return
    const recent = await readRecentDeactivations(database.run)
    const userIds = new Set(recent.filter(({ id, at }) => handled.get(id) !== at).map(({ id }) => id))
    handled = new Map(recent.map(({ id, at }: Deactivation) => [id, at]))
    if (userIds.size === 0) return
    for (const member of listMembers(rooms, userIds)) member.socket.end(closeCodes.refused)
  }
  const timer = createPeriodicCheck(check, { intervalMs: checkIntervalMs, log })
  return { start: timer.start, close: timer.stop }
}

/** Returns the sockets of these users, before any of them closes and leaves its room. */
function listMembers({ tenants }: Rooms, userIds: ReadonlySet<string>): Member[] {
  const members: Member[] = []
  for (const { rooms } of tenants.values())
    for (const room of rooms.values()) members.push(...listMembersOf(room, userIds))
  return members
}

/** Iterates over the smaller set: the sockets of the room, or the deactivated users. */
function listMembersOf({ byUser, members }: Room, userIds: ReadonlySet<string>): Member[] {
  if (members.size < userIds.size) return [...members].filter(({ userId }) => userIds.has(userId))
  const found: Member[] = []
  for (const userId of userIds)
    for (let member = byUser.get(userId) ?? null; member !== null; member = member.next) found.push(member)
  return found
}
