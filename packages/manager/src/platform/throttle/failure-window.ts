// Failures of clients as one process saw them: too many within a window block the client, each block twice as long as
// the one before. Pure except for its state; the time is a parameter.
import { createLru } from '../cache/lru.ts'

export type ThrottleLimits = {
  /** This many failures within the window block the client. */
  failures: number
  windowMs: number
  /** Length of the first block; each further one is twice as long, up to maxBlockMs. `window`: until the window ends. */
  blockMs: number | 'window'
  maxBlockMs: number
}

type State = {
  count: number
  windowEndsAt: number
  blockedUntil: number
  blocks: number
  /** The last time the shared counter of this client was cleared, by its clock; 0 when never. */
  clearedAt: number
}

const maxClients = 100_000
const nothing: State = { count: 0, windowEndsAt: 0, blockedUntil: 0, blocks: 0, clearedAt: 0 }

/** The clients that failed last; older ones are forgotten when there are too many. */
export function createFailureWindow({ failures, windowMs, blockMs, maxBlockMs }: ThrottleLimits) {
  const clients = createLru<State>({ max: maxClients })
  const stateOf = (client: string): State => clients.get(client) ?? nothing
  // The number of blocks is kept for one longest block after the last one.
  const keep = (client: string, state: State, ms: number): void => clients.set(client, state, ms + maxBlockMs)
  return {
    /** For how long the client is still blocked. */
    blockedMs: (client: string, now: number): number => Math.max(0, stateOf(client).blockedUntil - now),

    /** Counts a failure; returns the length of the block it begins, or 0. */
    fail: (client: string, now: number): number => {
      const state = stateOf(client)
      const isNewWindow = state.windowEndsAt <= now
      const count = isNewWindow ? 1 : state.count + 1
      const windowEndsAt = isNewWindow ? now + windowMs : state.windowEndsAt
      const block = blockMs === 'window' ? windowEndsAt - now : blockMs * 2 ** state.blocks
      const length = count >= failures ? Math.min(block, maxBlockMs) : 0
      const next = { count: 0, windowEndsAt: 0, blockedUntil: now + length, blocks: state.blocks + 1 }
      keep(client, { ...state, ...(length > 0 ? next : { count, windowEndsAt }) }, Math.max(windowMs, length))
      return length
    },

    /** Takes over a block that others have counted. */
    block: (client: string, now: number, ms: number): void => {
      const state = stateOf(client)
      const blockedUntil = Math.max(state.blockedUntil, now + ms)
      keep(client, { ...state, count: 0, windowEndsAt: 0, blockedUntil }, ms)
    },

    /** Forgets the client's failures when others have done so since this process last heard of it. */
    clearBefore: (client: string, clearedAt: number): void => {
      if (clearedAt > stateOf(client).clearedAt) keep(client, { ...nothing, clearedAt }, windowMs)
    },

    forget: (client: string): void => clients.delete(client),
  }
}
