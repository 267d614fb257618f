// Counts the failures of clients in one process. Too many failures within a window block the client, and each block is
// twice as long as the previous one. The code reads no clock: the time is a parameter.
import { createLru } from '../cache/lru.ts'

/** The number of failures that block a client, and the duration of blocks. */
export type ThrottleLimits = {
  /** This many failures within the window block the client. */
  failures: number
  windowMs: number
  /**
   * Duration of the first block. Each further block is twice as long, up to maxBlockMs. With `window`, the block lasts
   * until the window ends.
   */
  blockMs: number | 'window'
  maxBlockMs: number
}

type State = {
  count: number
  windowEndsAt: number
  blockedUntil: number
  blocks: number
  /** The last time the shared counter of this client was cleared, by the clock of Redis; 0 if never. */
  clearedAt: number
}

const maxClients = 100_000
const emptyState: State = { count: 0, windowEndsAt: 0, blockedUntil: 0, blocks: 0, clearedAt: 0 }

/** Remembers the clients that failed most recently, and evicts the oldest ones if there are too many. */
export function createFailureWindow({ failures, windowMs, blockMs, maxBlockMs }: ThrottleLimits) {
  const clients = createLru<State>({ max: maxClients })
  const getState = (client: string): State => clients.get(client) ?? emptyState
  // The number of blocks is remembered for the maximum block duration after the last block.
  const storeState = (client: string, state: State, ms: number): void =>
    clients.set(client, state, ms + maxBlockMs)
  return {
    /** Returns the remaining time of the block. */
    getBlockedMs: (client: string, now: number): number => Math.max(0, getState(client).blockedUntil - now),

    /** Counts a failure; returns the duration of the block that it starts, or 0. */
    fail: (client: string, now: number): number => {
      const state = getState(client)
      const isNewWindow = state.windowEndsAt <= now
      const count = isNewWindow ? 1 : state.count + 1
      const windowEndsAt = isNewWindow ? now + windowMs : state.windowEndsAt
      const fullBlockMs = blockMs === 'window' ? windowEndsAt - now : blockMs * 2 ** state.blocks
      const blockLengthMs = count >= failures ? Math.min(fullBlockMs, maxBlockMs) : 0
      const blockedState = {
        count: 0,
        windowEndsAt: 0,
        blockedUntil: now + blockLengthMs,
        blocks: state.blocks + 1,
      }
      storeState(
        client,
        { ...state, ...(blockLengthMs > 0 ? blockedState : { count, windowEndsAt }) },
        Math.max(windowMs, blockLengthMs),
      )
      return blockLengthMs
    },

    /** Applies a block that the shared counter reports. */
    block: (client: string, now: number, ms: number): void => {
      const state = getState(client)
      const blockedUntil = Math.max(state.blockedUntil, now + ms)
      storeState(client, { ...state, count: 0, windowEndsAt: 0, blockedUntil }, ms)
    },

    /** Clears the failures of the client if the shared counter was cleared since this process last read it. */
    clearBefore: (client: string, clearedAt: number): void => {
      if (clearedAt > getState(client).clearedAt) storeState(client, { ...emptyState, clearedAt }, windowMs)
    },

    forget: (client: string): void => clients.delete(client),
  }
}
