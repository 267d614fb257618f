// An answer of thousands of objects is put together in many turns of the event loop, so that others are answered between
// them. Execution itself knows no turns: it goes on for as long as everything is there.

type Turns = { left: number; waiting: (() => void)[]; isScheduled: boolean }

// As many objects as are asked for together share a statement; with fewer in a turn there would be more of those.
const perTurn = 1_000
const turns = new WeakMap<object, Turns>()

/** Null when there is room in this turn for one more of the request; else a promise for a later one. */
export function turnOf(context: object): Promise<void> | null {
  let own = turns.get(context)
  if (own === undefined) turns.set(context, (own = { left: perTurn, waiting: [], isScheduled: false }))
  schedule(own)
  if (own.left === 0) return new Promise((resolve) => own.waiting.push(resolve))
  own.left--
  return null
}

function schedule(own: Turns): void {
  if (own.isScheduled) return
  own.isScheduled = true
  setImmediate(() => {
    own.isScheduled = false
    const next = own.waiting.splice(0, perTurn)
    own.left = perTurn - next.length
    if (own.waiting.length > 0) schedule(own)
    for (const go of next) go()
  })
}
