// A response of thousands of objects is built in many event loop turns, so that other requests are served between
// them. Execution itself never yields while all required data is loaded. The requests of one owner (a person) share
// their turns. An owner that builds many objects also pauses between its turns. Without the pause, every step of
// another request would wait for one of these turns.

type WaitingObjects = { count: number; resume: () => void }
type OwnerTurns = {
  remainingObjects: number
  waitingObjects: WaitingObjects[]
  isScheduled: boolean
  /** Time when the last pause of the owner ends, as a performance.now() value. */
  pausedUntil: number
}

// Objects that are produced together request their lists in one statement, so smaller turns need more statements.
const objectsPerTurn = 250
// A pause is as long as the turn before it, so that half of the time remains for other requests.
const pauseFactor = 1
// Pause time that an owner may postpone, so that a response of a few thousand objects is built without a pause.
const maxPostponedPauseMs = 100
const turnsByOwner = new WeakMap<object, OwnerTurns>()

/**
 * Returns null if the objects fit into this turn, otherwise a promise for a later turn. Owners are paced
 * separately.
 */
export function waitForNextTurn(owner: object, count: number): Promise<void> | null {
  let ownerTurns = turnsByOwner.get(owner)
  if (ownerTurns === undefined)
    turnsByOwner.set(
      owner,
      (ownerTurns = {
        remainingObjects: objectsPerTurn,
        waitingObjects: [],
        isScheduled: false,
        pausedUntil: 0,
      }),
    )
  schedule(ownerTurns)
  if (ownerTurns.remainingObjects <= 0)
    return new Promise((resume) => ownerTurns.waitingObjects.push({ count, resume }))
  ownerTurns.remainingObjects -= count
  return null
}

function schedule(ownerTurns: OwnerTurns): void {
  if (ownerTurns.isScheduled) return
  ownerTurns.isScheduled = true
  setImmediate(startTurn, ownerTurns)
}

function startTurn(ownerTurns: OwnerTurns): void {
  const startedAt = performance.now()
  ownerTurns.remainingObjects = objectsPerTurn
  let resumedCount = 0
  while (ownerTurns.remainingObjects > 0 && resumedCount < ownerTurns.waitingObjects.length)
    ownerTurns.remainingObjects -= (ownerTurns.waitingObjects[resumedCount++] as WaitingObjects).count
  for (const { resume } of ownerTurns.waitingObjects.splice(0, resumedCount)) resume()
  // Resumed work runs before the next event loop turn.
  if (resumedCount > 0) setImmediate(pauseOwner, ownerTurns, startedAt)
  else ownerTurns.isScheduled = false
}

function pauseOwner(ownerTurns: OwnerTurns, startedAt: number): void {
  const now = performance.now()
  ownerTurns.pausedUntil = Math.max(ownerTurns.pausedUntil, startedAt) + (now - startedAt) * (1 + pauseFactor)
  const pauseMs = ownerTurns.pausedUntil - now - maxPostponedPauseMs
  if (pauseMs > 0) setTimeout(startTurn, pauseMs, ownerTurns)
  else startTurn(ownerTurns)
}
