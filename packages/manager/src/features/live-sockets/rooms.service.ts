// Indexes the sockets of this process by tenant, application and user. A room is one application in one tenant, and
// each socket belongs to one room.
import { newRequestId } from '../../platform/ids.ts'
import type { Frame } from '../../platform/sockets/frames.ts'
import type { LiveSocket } from '../../platform/sockets/live-socket.ts'

/** A frame with its recipients within the room. */
export type Delivery = {
  frame: Frame
  reachesEveryone: boolean
  includesMembers: boolean
  roles: readonly string[]
  users: ReadonlySet<string>
  mayDrop: boolean
  /** The connection that does not receive the frame. */
  excludedConnection: string | undefined
}

/** A socket in its room. */
export type Member = {
  readonly socket: LiveSocket
  readonly room: Room
  readonly userId: string
  readonly connectionId: string
  /** The role of the user in the tenant if the role includes `apps.read`; null for staff. */
  role: string | null
  /** Frames buffered during admission; null after admission. */
  bufferedDeliveries: Delivery[] | null
  /** The next socket of the same user. */
  next: Member | null
}

export type Room = {
  readonly applicationId: string
  readonly tenant: Tenant
  readonly members: Set<Member>
  /** The head of the linked list of sockets of each user. */
  readonly byUser: Map<string, Member>
  /** Deliveries to send. The first delivery is in progress. */
  readonly queue: Delivery[]
}

export type Tenant = {
  readonly id: string
  readonly rooms: Map<string, Room>
  /** Null until one of the tenant's sockets is admitted. */
  projectId: string | null
  size: number
}

export type JoinRequest = { socket: LiveSocket; tenantId: string; applicationId: string; userId: string }

/** Maximum number of sockets per user in a room. */
const maxPerUser = 10

export type RoomsOptions = {
  /** Called when the first socket of a tenant opens. */
  onTenantJoined(tenantId: string): void
  /** Called when the last socket of a tenant closes. */
  onTenantLeft(tenantId: string): void
}

export type Rooms = ReturnType<typeof createRooms>

export function createRooms(options: RoomsOptions) {
  const tenants = new Map<string, Tenant>()
  // Socket count per project, for tenants whose project is known.
  const projects = new Map<string, number>()
  const resize = (tenant: Tenant, by: number): void => {
    tenant.size += by
    if (tenant.projectId !== null) addToCount(projects, tenant.projectId, by)
  }
  const leave = (socket: LiveSocket): void => {
    const member = socket.owner as Member
    const { room } = member
    if (!room.members.delete(member)) return
    removeFromUser(room.byUser, member)
    const { tenant } = room
    resize(tenant, -1)
    // A delivery in progress needs no cancellation: it ends when it finds no more members.
    if (room.members.size === 0) tenant.rooms.delete(room.applicationId)
    if (tenant.size > 0) return
    tenants.delete(tenant.id)
    options.onTenantLeft(tenant.id)
  }
  const enterRoom = (room: Room, { socket, userId }: JoinRequest): Member => {
    const connectionId = newRequestId()
    const next = room.byUser.get(userId) ?? null
    const member = { socket, room, userId, connectionId, role: null, bufferedDeliveries: [], next }
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
    /** Stores the project of a tenant. */
    setProject: (tenant: Tenant, projectId: string): void => {
      if (tenant.projectId !== null || tenant.size === 0) return
      tenant.projectId = projectId
      addToCount(projects, projectId, tenant.size)
    },
    /**
     * Returns the socket count of the tenant's project. While the project is unknown, returns only the socket
     * count of the tenant.
     */
    getProjectSize: (tenantId: string): number => {
      const tenant = tenants.get(tenantId)
      if (tenant === undefined) return 0
      return tenant.projectId === null ? tenant.size : (projects.get(tenant.projectId) ?? 0)
    },
    find: (tenantId: string, applicationId: string): Room | undefined =>
      tenants.get(tenantId)?.rooms.get(applicationId),
    /** Adds a socket. Returns null if the user has the maximum number of sockets in the room. */
    enter: (request: JoinRequest): Member | null => {
      const existingTenant = tenants.get(request.tenantId)
      const tenant = existingTenant ?? { id: request.tenantId, rooms: new Map(), projectId: null, size: 0 }
      const room = tenant.rooms.get(request.applicationId) ?? createRoom(tenant, request.applicationId)
      if (countSockets(room.byUser.get(request.userId)) >= maxPerUser) return null
      tenant.rooms.set(room.applicationId, room)
      if (existingTenant === undefined) {
        tenants.set(tenant.id, tenant)
        options.onTenantJoined(tenant.id)
      }
      return enterRoom(room, request)
    },
  }
}

function addToCount(counts: Map<string, number>, key: string, by: number): void {
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

function countSockets(first: Member | undefined): number {
  let count = 0
  for (let member = first ?? null; member !== null; member = member.next) count++
  return count
}

function removeFromUser(byUser: Map<string, Member>, removedMember: Member): void {
  const firstMember = byUser.get(removedMember.userId)
  if (firstMember === removedMember) {
    if (removedMember.next === null) byUser.delete(removedMember.userId)
    else byUser.set(removedMember.userId, removedMember.next)
    return
  }
  for (let member = firstMember; member !== undefined && member !== null; member = member.next as Member)
    if (member.next === removedMember) {
      member.next = removedMember.next
      return
    }
}
