// Writes frames to the sockets of a room in the order in which they were sent. A large room is served in slices so that
// the event loop can run other work. Frames that arrive during a slice are queued.
import { closeCodes } from '../../platform/sockets/live-socket.ts'
import type { Delivery, Member, Room } from './rooms.service.ts'

export type FanOutMetrics = {
  onSent(count: number): void
  onDropped(reason: 'backlog' | 'joining', count: number): void
  onDone(seconds: number): void
}

// Number of sockets to visit before yielding to the event loop.
const sliceSize = 1_000
// Maximum number of frames queued for a room whose sockets are written more slowly than frames arrive.
const maxQueued = 256
// Maximum number of frames buffered for a socket during admission.
const maxHeld = 64

type Run = { room: Room; delivery: Delivery; rest: IterableIterator<Member>; startedAt: number; sent: number }

type Deliver = (room: Room, delivery: Delivery) => void

export function createFanOut(metrics: FanOutMetrics) {
  const sendTo = ({ socket, held }: Member, delivery: Delivery): boolean => {
    if (held === null) return socket.deliver(delivery.frame, delivery.mayDrop)
    const dropped = enqueue(held, delivery, { max: maxHeld, from: 0 })
    if (dropped !== null) metrics.onDropped('joining', 1)
    // The client reconnects and reads its inbox.
    if (dropped?.mayDrop === false) socket.end(closeCodes.slow)
    return false
  }
  /** Writes the next slice of the room. Returns true after the last slice. */
  const serve = (run: Run): boolean => {
    const { delivery, rest } = run
    let count = 0
    // Leaving the loop does not close this iterator, because Set and array iterators have no return method.
    for (const member of rest) {
      if (isFor(delivery, member) && sendTo(member, delivery)) run.sent++
      if (++count === sliceSize) return false
    }
    return true
  }
  const finish = ({ startedAt, sent }: Run): void => {
    metrics.onSent(sent)
    metrics.onDone((performance.now() - startedAt) / 1_000)
  }
  /** Serves the queue of the room and yields to the event loop between slices. */
  const resume = (run: Run): void => {
    if (!serve(run)) return void setImmediate(resume, run)
    finish(run)
    run.room.queue.shift()
    const [next] = run.room.queue
    if (next !== undefined) setImmediate(resume, startRun(run.room, next))
  }
  const deliver: Deliver = (room, delivery) => {
    const { queue } = room
    // The first delivery is in progress and cannot be replaced.
    const dropped = enqueue(queue, delivery, { max: maxQueued, from: 1 })
    if (dropped !== null) metrics.onDropped('backlog', room.members.size)
    else if (queue.length === 1) resume(startRun(room, delivery))
  }
  /** Sends the buffered frames to a member after admission. */
  const release = (member: Member): void => {
    const { held } = member
    member.held = null
    for (const delivery of held ?? [])
      if (isFor(delivery, member) && sendTo(member, delivery)) metrics.onSent(1)
  }
  return { deliver, release }
}

/**
 * Adds a delivery to a queue. A full queue drops its first droppable delivery if the new one is not droppable,
 * otherwise the new one. Returns the dropped delivery, or null.
 */
function enqueue(
  waiting: Delivery[],
  delivery: Delivery,
  { max, from }: { max: number; from: number },
): Delivery | null {
  const isFull = waiting.length >= max
  const index =
    !isFull || delivery.mayDrop ? -1 : waiting.findIndex(({ mayDrop }, at) => at >= from && mayDrop)
  if (isFull && index === -1) return delivery
  const [dropped = null] = isFull ? waiting.splice(index, 1) : []
  waiting.push(delivery)
  return dropped
}

const startRun = (room: Room, delivery: Delivery): Run => ({
  room,
  delivery,
  rest: addressed(room, delivery),
  startedAt: performance.now(),
  sent: 0,
})

/** Returns the members to check. Users are looked up by id, but roles and groups require a scan of the room. */
function addressed({ members, byUser }: Room, delivery: Delivery): Run['rest'] {
  if (delivery.everyone || delivery.members || delivery.roles.length > 0) return members.values()
  const found: Member[] = []
  for (const user of delivery.users)
    for (let member = byUser.get(user) ?? null; member !== null; member = member.next) found.push(member)
  return found.values()
}

/**
 * Returns whether a member receives the delivery. During admission, a member receives every delivery, because its role
 * is not known yet and its frames are buffered.
 */
function isFor(delivery: Delivery, { role, userId, held, connectionId }: Member): boolean {
  if (connectionId === delivery.except) return false
  if (delivery.everyone || held !== null) return true
  if (role !== null && (delivery.members || delivery.roles.includes(role))) return true
  return delivery.users.has(userId)
}
