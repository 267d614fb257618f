// A statement that failed because its connection is lost runs again on another one, where that does no harm. At most twice,
// after a short pause that differs each time, and only within the time the caller would have waited anyway.
import { setTimeout as sleep } from 'node:timers/promises'
import type { ConnectGate } from './connect-gate.ts'
import { isWorthAnother } from './outcomes.ts'

export const retryKinds = ['read', 'write', 'transaction'] as const
export type RetryKind = (typeof retryKinds)[number]
export type OnRetry = (kind: RetryKind) => void

const maxRetries = 2
const firstPauseMs = 20
// Who paces connecting may ask for more; then the caller hears of the failure instead.
const longestPauseMs = 250

type RetryOptions = {
  kind: RetryKind
  /** No retry begins later than this. */
  withinMs: number
  /** Whether to try again after this error; where a connection is lost by default. */
  isWorth?: (error: unknown) => boolean
}
export type Retry = <T>(attempt: () => Promise<T>, options: RetryOptions) => Promise<T>

/** Returns what tries again. A connection that cannot be made is tried no earlier than `gate` lets it. */
export const createRetry =
  (gate: Pick<ConnectGate, 'pauseMs'>, onRetry: OnRetry = () => undefined): Retry =>
  async (attempt, { kind, withinMs, isWorth = isWorthAnother }) => {
    const begunAt = performance.now()
    for (let retries = 0; ; retries++) {
      try {
        return await attempt()
      } catch (error) {
        if (retries === maxRetries || !isWorth(error)) throw error
        const pauseMs = Math.max(gate.pauseMs(), firstPauseMs * 4 ** retries * (0.5 + Math.random()))
        if (pauseMs > longestPauseMs || performance.now() + pauseMs - begunAt > withinMs) throw error
        await sleep(pauseMs)
        onRetry(kind)
      }
    }
  }
