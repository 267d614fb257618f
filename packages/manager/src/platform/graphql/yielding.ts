// A response of thousands of objects is built in many turns of the event loop, so that other requests are served between
// them. Execution itself never yields while everything it needs is loaded. An owner that builds more than a little also
// rests between its turns: otherwise every step of another request would wait for one of them.

type Waiting = { count: number; resume: () => void }
type Turns = {
  left: number
  waiting: Waiting[]
  isScheduled: boolean
  /** When the owner has rested from all its turns, by performance.now(). */
  restedAt: number
}

// Objects that are produced together request their lists together, in one statement; smaller turns need more statements.
const perTurn = 250
// As long as its turn, so that half of the time is left to others.
const restFactor = 1
// Rest that an owner may owe: a response of some thousand objects is built without any.
const maxOwedMs = 100
const turns = new WeakMap<object, Turns>()

/** Null when so many objects fit into this turn; else a promise for a later one. Owners are paced separately. */
export function nextTurn(owner: object, count: number): Promise<void> | null {
  let own = turns.get(owner)
  if (own === undefined)
    turns.set(owner, (own = { left: perTurn, waiting: [], isScheduled: false, restedAt: 0 }))
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
  // What was resumed runs before the next turn of the event loop.
  if (resumed > 0) setImmediate(rest, own, startedAt)
  else own.isScheduled = false
}

function rest(own: Turns, startedAt: number): void {
  const now = performance.now()
  own.restedAt = Math.max(own.restedAt, startedAt) + (now - startedAt) * (1 + restFactor)
  const owedMs = own.restedAt - now - maxOwedMs
  if (owedMs > 0) setTimeout(startTurn, owedMs, own)
  else startTurn(own)
}
