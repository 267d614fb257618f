// The requests of one person take turns, so that many connections of one person slow that person down and nobody else.
// The API has no rate limit: requests wait, and only an absurd number of them is refused.
import { setImmediate as nextLoop } from 'node:timers/promises'
import { createFairShare } from '../throttle/fair-share.ts'

const limits = {
  /** Of one person. */
  running: 8,
  /** Of all people; their bodies are not read yet. */
  waiting: 4_000,
  waitMs: 20_000,
} as const
// More than can be connected: only the places of one person are scarce.
const manyPlaces = 1_000_000

// A refusal is followed by a pause of the person: refused documents take at most a tenth of the event loop's time.
const pauseFactor = 9
// The time that a request takes beside its document, at least.
const requestMs = 1
const maxPauseMs = 500

type Person = {
  /** How many turns have begun, or wait. */
  turns: number
  /** Resolves when the next document may be judged. */
  judged: Promise<void>
  isPausing: boolean
  /** The request whose large response is being built, and those that wait for its end. */
  large: object | null
  waitingLarge: { request: object; resume: () => void }[]
}

/** The turn of one request, and what the request may do meanwhile. */
export type Turn = {
  /** Waits for the turn; throws 503 when too many requests wait, or for too long. */
  begin(): Promise<void>
  /** Passes the turn on, or stops waiting for it. */
  end: () => void
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

/** Returns a function that prepares the turn of a person's next request. */
export function createTurns() {
  const places = createFairShare({
    capacity: manyPlaces,
    maxEach: limits.running,
    maxWaiting: limits.waiting,
    maxWaitMs: limits.waitMs,
    full: 'too many of your requests are waiting; send fewer at a time',
  })
  const people = new Map<string, Person>()
  const forgetIdle = (name: string, { turns, isPausing }: Person): void => {
    if (turns === 0 && !isPausing) people.delete(name)
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
  return (name: string): Turn => {
    const person = people.get(name) ?? newPerson()
    people.set(name, person)
    person.turns++
    const request = {}
    const place = places.begin([name])
    let isOver = false
    return {
      begin: () => place.add(1),
      end: () => {
        if (isOver) return
        isOver = true
        leaveLarge(person, request)
        place.release()
        person.turns--
        forgetIdle(name, person)
      },
      pace: person,
      judge: judgeOf(name, person),
      enterLarge: largeOf(person, request),
    }
  }
}

const newPerson = (): Person => ({
  turns: 0,
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
