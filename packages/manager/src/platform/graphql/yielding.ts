// A response of thousands of objects is built in many event loop turns, so that other requests are served between them.
// Execution itself never yields while everything it needs is loaded. An owner that builds many objects also pauses
// between its turns: otherwise every step of another request would wait for one of them.

type Waiting = { count: number; resume: () => void }
type Turns = {
  left: number
  waiting: Waiting[]
  isScheduled: boolean
  /** Time at which the pauses after all turns of the owner end, by performance.now(). */
  restedUntil: number
}

// Objects that are produced together request their lists in one statement, so smaller turns need more statements.
const perTurn = 250
// A pause is as long as the turn before it, so that half of the time remains for other requests.
const restFactor = 1
// Pause time that an owner may postpone, so that a response of a few thousand objects is built without a pause.
const maxPostponedRestMs = 100
const turns = new WeakMap<object, Turns>()

/** Returns null if the objects fit into this turn, otherwise a promise for a later one. Owners are paced separately. */
export function nextTurn(owner: object, count: number): Promise<void> | null {
  let own = turns.get(owner)
  if (own === undefined)
    turns.set(owner, (own = { left: perTurn, waiting: [], isScheduled: false, restedUntil: 0 }))
  schedule(own)
  if (own.left <= 0) return new Promise((resume) => own.waiting.push({ count, resume }))
  own.left -= count
  return null
}

function schedule(own: Turns): void {
  if (own.isScheduled) return
  own.isScheduled = true
  setImmediate(startTurn, own)
}

function startTurn(own: Turns): void {
  const startedAt = performance.now()
  own.left = perTurn
  let resumed = 0
  while (own.left > 0 && resumed < own.waiting.length) own.left -= (own.waiting[resumed++] as Waiting).count
  for (const { resume } of own.waiting.splice(0, resumed)) resume()
  // Resumed work runs before the next event loop turn.
  if (resumed > 0) setImmediate(rest, own, startedAt)
  else own.isScheduled = false
}

function rest(own: Turns, startedAt: number): void {
  const now = performance.now()
  own.restedUntil = Math.max(own.restedUntil, startedAt) + (now - startedAt) * (1 + restFactor)
  const owedMs = own.restedUntil - now - maxPostponedRestMs
  if (owedMs > 0) setTimeout(startTurn, owedMs, own)
  else startTurn(own)
}
