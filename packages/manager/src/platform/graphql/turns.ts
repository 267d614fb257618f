// The requests of one person take turns, so that many connections of one person slow that person down and nobody else.
// The API has no rate limit: requests wait, and only an absurd number of them is refused.
import { setImmediate as nextLoop } from 'node:timers/promises'
import { unavailable } from '../errors.ts'

const limits = {
  running: 8,
  waiting: 1_000,
  waitingBytes: 64 * 1_048_576,
  waitMs: 20_000,
} as const

// A refusal is followed by a pause of the person: refused documents take at most a tenth of the event loop's time.
const pauseFactor = 9
// The time that a request takes beside its document, at least.
const requestMs = 1
const maxPauseMs = 500

type Person = {
  running: number
  waiting: (() => void)[]
  waitingBytes: number
  /** Resolves when the next document may be judged. */
  judged: Promise<void>
  isPausing: boolean
  /** The request whose large response is being built, and those that wait for its end. */
  large: object | null
  waitingLarge: { request: object; resume: () => void }[]
}

/** What a request may do while it is its turn. */
export type Turn = {
  /** Identifies the person: work that is paced by it is shared by all of the person's requests. */
  pace: object
  /**
   * Runs `work` when no other document of the person is being judged and no pause is left. `isCostly` work starts in a
   * fresh turn of the event loop. After a refusal the person pauses.
   */
  judge<T>(isCostly: boolean, work: () => T, isRefusal: (result: T) => boolean): Promise<T>
  /** Null while no other large response of the person is being built, until the end of the turn; else a promise for that. */
  enterLarge(): Promise<void> | null
}

/** Returns a function that runs the work of a person when it is its turn; throws 503 when too many requests wait. */
export function createTurns() {
  const people = new Map<string, Person>()
  const forgetIdle = (name: string, { running, isPausing }: Person): void => {
    if (running === 0 && !isPausing) people.delete(name)
  }
  const pause = (name: string, person: Person, tookMs: number): Promise<void> => {
    person.isPausing = true
    return new Promise((resolve) =>
      setTimeout(
        () => {
          person.isPausing = false
          forgetIdle(name, person)
          resolve()
        },
        Math.min(pauseFactor * (tookMs + requestMs), maxPauseMs),
      ),
    )
  }
  const judgeOf =
    (name: string, person: Person): Turn['judge'] =>
    async (isCostly, work, isRefusal) => {
      const before = person.judged
      const { promise, resolve } = Promise.withResolvers<void>()
      person.judged = promise
      await before
      if (isCostly) await nextLoop()
      const startedAt = performance.now()
      try {
        const result = work()
        if (isRefusal(result)) resolve(pause(name, person, performance.now() - startedAt))
        return result
      } finally {
        resolve()
      }
    }
  return async function inTurn<T>(name: string, bytes: number, work: (turn: Turn) => Promise<T>): Promise<T> {
    const person = people.get(name) ?? newPerson()
    people.set(name, person)
    const request = {}
    let waitedMs = 0
    if (person.running < limits.running) person.running++
    else waitedMs = await waitInLine(person, bytes)
    try {
      if (waitedMs > limits.waitMs)
        throw unavailable('the request waited too long behind others of yours; send fewer at a time')
      return await work({
        pace: person,
        judge: judgeOf(name, person),
        enterLarge: largeOf(person, request),
      })
    } finally {
      leaveLarge(person, request)
      leave(person)
      forgetIdle(name, person)
    }
  }
}

const newPerson = (): Person => ({
  running: 0,
  waiting: [],
  waitingBytes: 0,
  judged: Promise.resolve(),
  isPausing: false,
  large: null,
  waitingLarge: [],
})

/** Waits at most once for a request: fields that ask meanwhile share the promise. */
function largeOf(person: Person, request: object): Turn['enterLarge'] {
  let entering: Promise<void> | null = null
  return () => {
    if (person.large === null) person.large = request
    if (person.large === request) return null
    return (entering ??= new Promise((resume) => person.waitingLarge.push({ request, resume })))
  }
}

/** The large response of the request is over, or not wanted any more. */
function leaveLarge(person: Person, request: object): void {
  person.waitingLarge = person.waitingLarge.filter((waiting) => waiting.request !== request)
  if (person.large !== request) return
  const next = person.waitingLarge.shift()
  person.large = next?.request ?? null
  next?.resume()
}

/** Returns for how many milliseconds it has waited; throws 503 when too many wait already. */
async function waitInLine(person: Person, bytes: number): Promise<number> {
  if (person.waiting.length >= limits.waiting || person.waitingBytes + bytes > limits.waitingBytes)
    throw unavailable('too many of your requests are waiting; send fewer at a time')
  person.waitingBytes += bytes
  const startedAt = performance.now()
  // A request that ends passes its turn on, so `running` does not change.
  await new Promise<void>((resume) => person.waiting.push(resume))
  person.waitingBytes -= bytes
  return performance.now() - startedAt
}

function leave(person: Person): void {
  const next = person.waiting.shift()
  if (next === undefined) person.running--
  else next()
}
