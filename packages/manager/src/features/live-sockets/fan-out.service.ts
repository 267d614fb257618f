// Writes frames to the sockets of a room in the order in which the frames were sent. A large room is served
// in slices, so that the event loop can run other work. Frames that arrive during a slice are queued.
import { closeCodes } from '../../platform/sockets/live-socket.ts'
import type { Delivery, Member, Room } from './rooms.service.ts'

export type FanOutMetrics = {
  onSent(count: number): void
  onDropped(reason: 'backlog' | 'joining', count: number): void
  onDone(seconds: number): void
}

// Number of sockets to visit before yielding to the event loop.
const sliceSize = 1_000
// Maximum number of queued frames per room. The queue grows if frames arrive faster than they are written to the
// sockets.
const maxQueueLength = 256
// Maximum number of frames buffered for a socket during admission.
const maxBufferedFrames = 64

type Run = {
  room: Room
  delivery: Delivery
  remainingMembers: IterableIterator<Member>
  startedAt: number
  sentCount: number
}

type Deliver = (room: Room, delivery: Delivery) => void

export function createFanOut(metrics: FanOutMetrics) {
  const sendTo = ({ socket, bufferedDeliveries }: Member, delivery: Delivery): boolean => {
    if (bufferedDeliveries === null) return socket.deliver(delivery.frame, delivery.mayDrop)
    const droppedDelivery = enqueue(bufferedDeliveries, delivery, { max: maxBufferedFrames, from: 0 })
    if (droppedDelivery !== null) metrics.onDropped('joining', 1)
    // The client reconnects and then reads its inbox.
    if (droppedDelivery?.mayDrop === false) socket.end(closeCodes.slow)
    return false
  }
  /** Writes the next slice of the room. Returns true after the last slice. */
  const writeSlice = (run: Run): boolean => {
    const { delivery, remainingMembers } = run
    let count = 0
    // Leaving the loop does not close this iterator: Set and array iterators have no return method.
    for (const member of remainingMembers) {
      if (isRecipient(delivery, member) && sendTo(member, delivery)) run.sentCount++
      if (++count === sliceSize) return false
    }
    return true
  }
  const finish = ({ startedAt, sentCount }: Run): void => {
    metrics.onSent(sentCount)
    metrics.onDone((performance.now() - startedAt) / 1_000)
  }
  /** Serves the queue of the room and yields to the event loop between slices. */
  const resume = (run: Run): void => {
    if (!writeSlice(run)) return void setImmediate(resume, run)
    finish(run)
    run.room.queue.shift()
    const [nextDelivery] = run.room.queue
    if (nextDelivery !== undefined) setImmediate(resume, startRun(run.room, nextDelivery))
  }
  const deliver: Deliver = (room, delivery) => {
    const { queue } = room
    // The first delivery is in progress and cannot be replaced.
    const droppedDelivery = enqueue(queue, delivery, { max: maxQueueLength, from: 1 })
    if (droppedDelivery !== null) metrics.onDropped('backlog', room.members.size)
    else if (queue.length === 1) resume(startRun(room, delivery))
  }
  /** Sends the buffered frames to a member after admission. */
  const release = (member: Member): void => {
    const { bufferedDeliveries } = member
    member.bufferedDeliveries = null
    for (const delivery of bufferedDeliveries ?? [])
      if (isRecipient(delivery, member) && sendTo(member, delivery)) metrics.onSent(1)
  }
  return { deliver, release }
}

/**
 * Adds a delivery to a queue. If the queue is full, it drops its first droppable delivery. If there is none, or if the
 * new delivery is droppable, it drops the new delivery. Returns the dropped delivery, or null.
 */
function enqueue(
  queue: Delivery[],
  delivery: Delivery,
  { max, from }: { max: number; from: number },
): Delivery | null {
  const isFull = queue.length >= max
  const index = !isFull || delivery.mayDrop ? -1 : queue.findIndex(({ mayDrop }, at) => at >= from && mayDrop)
  if (isFull && index === -1) return delivery
  const [droppedDelivery = null] = isFull ? queue.splice(index, 1) : []
  queue.push(delivery)
  return droppedDelivery
}

const startRun = (room: Room, delivery: Delivery): Run => ({
  room,
  delivery,
  remainingMembers: findCandidates(room, delivery),
  startedAt: performance.now(),
  sentCount: 0,
})

/**
 * Returns the members that may receive the delivery. Users are looked up by id, but roles and groups require
 * a scan of the room.
 */
function findCandidates({ members, byUser }: Room, delivery: Delivery): Run['remainingMembers'] {
  if (delivery.reachesEveryone || delivery.includesMembers || delivery.roles.length > 0)
    return members.values()
  const candidates: Member[] = []
  for (const user of delivery.users)
    for (let member = byUser.get(user) ?? null; member !== null; member = member.next) candidates.push(member)
  return candidates.values()
}

/**
 * Returns whether a member receives the delivery. During admission, a member receives every delivery, because its role
 * is not known yet and its frames are buffered.
 */
function isRecipient(
  delivery: Delivery,
  { role, userId, bufferedDeliveries, connectionId }: Member,
): boolean {
  if (connectionId === delivery.excludedConnection) return false
  if (delivery.reachesEveryone || bufferedDeliveries !== null) return true
  if (role !== null && (delivery.includesMembers || delivery.roles.includes(role))) return true
  return delivery.users.has(userId)
}
