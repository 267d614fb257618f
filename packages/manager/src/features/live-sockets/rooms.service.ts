// Who holds sockets here: by tenant, application and user. A room is a tenant's application; a socket is in one.
import { newRequestId } from '../../platform/ids.ts'
import type { Frame } from '../../platform/sockets/frames.ts'
import type { LiveSocket } from '../../platform/sockets/live-socket.ts'

/** A frame on its way, and for whom of its room it is. */
export type Delivery = {
  frame: Frame
  everyone: boolean
  members: boolean
  roles: readonly string[]
  users: ReadonlySet<string>
  mayDrop: boolean
  /** A connection that does not get it. */
  except: string | undefined
}

/** A socket in its room. */
export type Member = {
  readonly socket: LiveSocket
  readonly room: Room
  readonly userId: string
  readonly connectionId: string
  /** The user's role in the tenant, if it lets them use its applications; null for staff. */
  role: string | null
  /** What came before it was known whether and as whom they may be here; null once it is. */
  held: Delivery[] | null
  /** The next socket of the same user. */
  next: Member | null
}

export type Room = {
  readonly applicationId: string
  readonly tenant: Tenant
  readonly members: Set<Member>
  /** The first socket of each user. */
  readonly byUser: Map<string, Member>
  /** What is still to be sent, the one under way first. */
  readonly queue: Delivery[]
}

export type Tenant = {
  readonly id: string
  readonly rooms: Map<string, Room>
  /** Null until the first of its sockets is admitted. */
  projectId: string | null
  size: number
}

export type Newcomer = { socket: LiveSocket; tenantId: string; applicationId: string; userId: string }

/** How many sockets one user has in a room. */
const maxOfUser = 10

export type RoomsOptions = {
  /** The first socket of a tenant came. */
  onTenantCame(tenantId: string): void
  /** The last one is gone. */
  onTenantLeft(tenantId: string): void
}

export type Rooms = ReturnType<typeof createRooms>

export function createRooms(options: RoomsOptions) {
  const tenants = new Map<string, Tenant>()
  // Sockets by project, as far as it is known.
  const projects = new Map<string, number>()
  const resize = (tenant: Tenant, by: number): void => {
    tenant.size += by
    if (tenant.projectId !== null) addTo(projects, tenant.projectId, by)
  }
  const leave = (socket: LiveSocket): void => {
    const member = socket.owner as Member
    const { room } = member
    if (!room.members.delete(member)) return
    removeFromUser(room.byUser, member)
    const { tenant } = room
    resize(tenant, -1)
    // What is under way ends by itself in an empty room.
    if (room.members.size === 0) tenant.rooms.delete(room.applicationId)
    if (tenant.size > 0) return
    tenants.delete(tenant.id)
    options.onTenantLeft(tenant.id)
  }
  const enterRoom = (room: Room, { socket, userId }: Newcomer): Member => {
    const connectionId = newRequestId()
    const next = room.byUser.get(userId) ?? null
    const member = { socket, room, userId, connectionId, role: null, held: [], next }
    room.members.add(member)
    room.byUser.set(userId, member)
    resize(room.tenant, 1)
    socket.owner = member
    socket.onEnded = leave
    return member
  }
  return {
    tenants,
    projects,
    /** Notes whose project a tenant is of. */
    place: (tenant: Tenant, projectId: string): void => {
      if (tenant.projectId !== null || tenant.size === 0) return
      tenant.projectId = projectId
      addTo(projects, projectId, tenant.size)
    },
    /** How many sockets are held for the project of this tenant, or for the tenant where that is not known. */
    sizeAround: (tenantId: string): number => {
      const tenant = tenants.get(tenantId)
      if (tenant === undefined) return 0
      return tenant.projectId === null ? tenant.size : (projects.get(tenant.projectId) ?? 0)
    },
    find: (tenantId: string, applicationId: string): Room | undefined =>
      tenants.get(tenantId)?.rooms.get(applicationId),
    /** Null when the user has as many sockets there as one may have. */
    enter: (newcomer: Newcomer): Member | null => {
      const known = tenants.get(newcomer.tenantId)
      const tenant = known ?? { id: newcomer.tenantId, rooms: new Map(), projectId: null, size: 0 }
      const room = tenant.rooms.get(newcomer.applicationId) ?? createRoom(tenant, newcomer.applicationId)
      if (countOf(room.byUser.get(newcomer.userId)) >= maxOfUser) return null
      tenant.rooms.set(room.applicationId, room)
      if (known === undefined) {
        tenants.set(tenant.id, tenant)
        options.onTenantCame(tenant.id)
      }
      return enterRoom(room, newcomer)
    },
  }
}

function addTo(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
}

const createRoom = (tenant: Tenant, applicationId: string): Room => ({
  tenant,
  applicationId,
  members: new Set(),
  byUser: new Map(),
  queue: [],
})

function countOf(first: Member | undefined): number {
  let count = 0
  for (let member = first ?? null; member !== null; member = member.next) count++
  return count
}

function removeFromUser(byUser: Map<string, Member>, gone: Member): void {
  const first = byUser.get(gone.userId)
  if (first === gone) {
    if (gone.next === null) byUser.delete(gone.userId)
    else byUser.set(gone.userId, gone.next)
    return
  }
  for (let member = first; member !== undefined && member !== null; member = member.next as Member)
    if (member.next === gone) {
      member.next = gone.next
      return
    }
}
