// The requests of one person take turns, so that many connections of one person slow down only that person. The API has
// no rate limit: requests wait, and they are rejected only in extreme numbers.
import { setImmediate as nextLoop } from 'node:timers/promises'
import { unavailable } from '../errors.ts'
import { createFairShare } from '../throttle/fair-share.ts'

const limits = {
  /** Maximum number of running requests per person. */
  running: 8,
  /** Maximum number of waiting requests in total; Node reads at most 128 KiB of each waiting body. */
  waiting: 1_000,
  waitMs: 20_000,
} as const
// The capacity exceeds any possible number of connections, so that only the limit per person applies.
const unlimitedSlots = 1_000_000

// A person is paused after a rejection, so that rejected documents take at most a tenth of the event loop's time.
const pauseFactor = 9
// Minimum time that a request takes in addition to the check of its document.
const requestMs = 1
const maxPauseMs = 500

type Person = {
  /** Number of turns that run or wait. */
  turnCount: number
  /** Resolves when the next document may be checked. */
  checkPromise: Promise<void>
  isPausing: boolean
  /** The request whose large response is being built. The requests in `waitingRequests` wait until it ends. */
  largeRequest: object | null
  waitingRequests: { request: object; resume: () => void }[]
}

/** The turn of one request. */
export type Turn = {
  /** Waits for the turn; throws 503 if too many requests wait, or if the wait takes too long. */
  begin(): Promise<void>
  /** Runs the work of the request, then ends the turn. */
  run<T>(work: () => Promise<T>): Promise<T>
  /**
   * Handles a disconnect: ends the turn unless its work has started. Work that has started continues without the
   * caller.
   */
  leave: () => void
  /** Identifies the person: all requests of the person share one pace. */
  pace: object
  /**
   * Runs `work` when no other document of the person is being checked and the person is not pausing. `isCostly` work
   * starts in a new event loop turn. After a rejection the person pauses.
   */
  check<T>(isCostly: boolean, work: () => T, isRefusal: (result: T) => boolean): Promise<T>
  /**
   * Reserves the right to build a large response until the turn ends; only one request per person can have this right.
   * Returns null if the reservation succeeds immediately, otherwise a promise that resolves when it does.
   */
  reserveLargeResponse(): Promise<void> | null
}

/** Returns a function that prepares the turn of a person's next request. */
export function createTurns() {
  const slots = createFairShare({
    capacity: unlimitedSlots,
    maxPerOwner: limits.running,
    maxWaiting: limits.waiting,
    maxWaitMs: limits.waitMs,
    overloadMessage: 'too many of your requests are running or waiting; send fewer concurrent requests',
  })
  const people = new Map<string, Person>()
  const removeIfIdle = (name: string, { turnCount, isPausing }: Person): void => {
    if (turnCount === 0 && !isPausing) people.delete(name)
  }
  return (name: string): Turn => {
    const person = people.get(name) ?? createPerson()
    people.set(name, person)
    person.turnCount++
    const request = {}
    const slot = slots.begin([name])
    let state: 'waits' | 'runs' | 'over' = 'waits'
    const endTurn = (): void => {
      state = 'over'
      releaseLargeResponse(person, request)
      slot.release()
      person.turnCount--
      removeIfIdle(name, person)
    }
    return {
      begin: () => slot.add(1),
      run: async (work) => {
        if (state !== 'waits') throw unavailable('the client disconnected')
        state = 'runs'
        return await work().finally(endTurn)
      },
      leave: () => {
        if (state === 'waits') endTurn()
      },
      pace: person,
      check: createCheck(person, () => removeIfIdle(name, person)),
      reserveLargeResponse: createLargeResponseReservation(person, request),
    }
  }
}

function pause(person: Person, tookMs: number, whenOver: () => void): Promise<void> {
  person.isPausing = true
  return new Promise((resolve) =>
    setTimeout(
      () => {
        person.isPausing = false
        whenOver()
        resolve()
      },
      Math.min(pauseFactor * (tookMs + requestMs), maxPauseMs),
    ),
  )
}

const createCheck =
  (person: Person, whenPaused: () => void): Turn['check'] =>
  async (isCostly, work, isRefusal) => {
    const previousCheck = person.checkPromise
    const { promise, resolve } = Promise.withResolvers<void>()
    person.checkPromise = promise
    await previousCheck
    if (isCostly) await nextLoop()
    const startedAt = performance.now()
    try {
      const result = work()
      if (isRefusal(result)) resolve(pause(person, performance.now() - startedAt, whenPaused))
      return result
    } finally {
      resolve()
    }
  }

const createPerson = (): Person => ({
  turnCount: 0,
  checkPromise: Promise.resolve(),
  isPausing: false,
  largeRequest: null,
  waitingRequests: [],
})

/**
 * Creates `reserveLargeResponse`, which waits at most once per request: fields that call it concurrently share the
 * promise.
 */
function createLargeResponseReservation(person: Person, request: object): Turn['reserveLargeResponse'] {
  let pendingEntry: Promise<void> | null = null
  return () => {
    if (person.largeRequest === null) person.largeRequest = request
    if (person.largeRequest === request) return null
    return (pendingEntry ??= new Promise((resume) => person.waitingRequests.push({ request, resume })))
  }
}

/** Releases the right to build a large response, or stops waiting for it, and resumes the next request. */
function releaseLargeResponse(person: Person, request: object): void {
  person.waitingRequests = person.waitingRequests.filter(
    (waitingRequest) => waitingRequest.request !== request,
  )
  if (person.largeRequest !== request) return
  const nextRequest = person.waitingRequests.shift()
  person.largeRequest = nextRequest?.request ?? null
  nextRequest?.resume()
}
