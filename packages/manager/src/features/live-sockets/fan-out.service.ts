// Frames to the sockets of a room, in the order in which they were sent. A large room is served in parts, so that the process
// does other things in between; what comes meanwhile waits its turn.
import { closeCodes } from '../../platform/sockets/live-socket.ts'
import type { Delivery, Member, Room } from './rooms.service.ts'

export type FanOutMetrics = {
  onSent(count: number): void
  onLeftOut(reason: 'backlog' | 'joining', count: number): void
  onDone(seconds: number): void
}

// Writes before others get their turn.
const sliceSize = 1_000
// Frames that wait for a room whose sockets cannot all be written to as fast as frames come.
const maxQueued = 256
// Frames kept for a socket that is being admitted.
const maxHeld = 64

type Run = { room: Room; delivery: Delivery; rest: IterableIterator<Member>; startedAt: number; sent: number }

type Deliver = (room: Room, delivery: Delivery) => void

export function createFanOut(metrics: FanOutMetrics) {
  const sendTo = ({ socket, held }: Member, delivery: Delivery): boolean => {
    if (held === null) return socket.deliver(delivery.frame, delivery.mayDrop)
    const leftOut = keep(held, delivery, { max: maxHeld, from: 0 })
    if (leftOut !== null) metrics.onLeftOut('joining', 1)
    // It comes back and reads its inbox.
    if (leftOut?.mayDrop === false) socket.end(closeCodes.slow)
    return false
  }
  /** Writes to the next of the room; true when that was the last. */
  const serve = (run: Run): boolean => {
    const { delivery, rest } = run
    let count = 0
    // Such an iterator stays where it is when the loop is left.
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
  /** Serves what waits until it has to let others in. */
  const goOn = (run: Run): void => {
    if (!serve(run)) return void setImmediate(goOn, run)
    finish(run)
    run.room.queue.shift()
    const [next] = run.room.queue
    if (next !== undefined) setImmediate(goOn, begin(run.room, next))
  }
  const deliver: Deliver = (room, delivery) => {
    const { queue } = room
    // The first is under way.
    const leftOut = keep(queue, delivery, { max: maxQueued, from: 1 })
    if (leftOut !== null) metrics.onLeftOut('backlog', room.members.size)
    else if (queue.length === 1) goOn(begin(room, delivery))
  }
  /** Sends a member what was held for them. */
  const release = (member: Member): void => {
    const { held } = member
    member.held = null
    for (const delivery of held ?? [])
      if (isFor(delivery, member) && sendTo(member, delivery)) metrics.onSent(1)
  }
  return { deliver, release }
}

/** Adds to what waits, and returns what is left out for it: itself, or the first that may be if it may not; null if nothing. */
function keep(
  waiting: Delivery[],
  delivery: Delivery,
  { max, from }: { max: number; from: number },
): Delivery | null {
  const isFull = waiting.length >= max
  const index =
    !isFull || delivery.mayDrop ? -1 : waiting.findIndex(({ mayDrop }, at) => at >= from && mayDrop)
  if (isFull && index === -1) return delivery
  const [leftOut = null] = isFull ? waiting.splice(index, 1) : []
  waiting.push(delivery)
  return leftOut
}

const begin = (room: Room, delivery: Delivery): Run => ({
  room,
  delivery,
  rest: addressed(room, delivery),
  startedAt: performance.now(),
  sent: 0,
})

/** Those of a room among whom the audience is: its users are found by name, roles by looking at everyone. */
function addressed({ members, byUser }: Room, delivery: Delivery): Run['rest'] {
  if (delivery.everyone || delivery.members || delivery.roles.length > 0) return members.values()
  const found: Member[] = []
  for (const user of delivery.users)
    for (let member = byUser.get(user) ?? null; member !== null; member = member.next) found.push(member)
  return found.values()
}

/** Whether a member gets it; one whose role is not known yet does for now. */
function isFor(delivery: Delivery, { role, userId, held, connectionId }: Member): boolean {
  if (connectionId === delivery.except) return false
  if (delivery.everyone || held !== null) return true
  if (role !== null && (delivery.members || delivery.roles.includes(role))) return true
  return delivery.users.has(userId)
}
