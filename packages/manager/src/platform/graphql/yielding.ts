// A response of thousands of objects is built in many turns of the event loop, so that others are answered between
// them. Execution itself knows no turns: it goes on for as long as everything is there.

type Slots = { left: number; waiting: (() => void)[]; isScheduled: boolean }

// Objects that are requested together share a statement; with fewer in a turn there would be more statements.
const perTurn = 1_000
const slots = new WeakMap<object, Slots>()

/** Null when there is room in this turn for one more of the request; else a promise for a later one. */
export function nextSlot(context: object): Promise<void> | null {
  let own = slots.get(context)
  if (own === undefined) slots.set(context, (own = { left: perTurn, waiting: [], isScheduled: false }))
  schedule(own)
  if (own.left === 0) return new Promise((resolve) => own.waiting.push(resolve))
  own.left--
  return null
}

function schedule(own: Slots): void {
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
