// Retries a statement on another connection if its connection was lost and repeating the statement is
// harmless. There are at most two retries, each after a short random pause, and only within the time that the
// caller would have waited anyway.
import { setTimeout as sleep } from 'node:timers/promises'
import type { ConnectGate } from './connect-gate.ts'
import { isDeadlock, isRetryable } from './outcomes.ts'

export const retryKinds = ['read', 'write', 'transaction'] as const
/** The kind of work that is retried. */
export type RetryKind = (typeof retryKinds)[number]
/** Called for each retry. */
export type OnRetry = (kind: RetryKind) => void

const maxRetries = 2
const firstPauseMs = 20
// If the connect gate requires a longer pause, the caller gets the error instead.
const longestPauseMs = 250

type RetryOptions = {
  kind: RetryKind
  /** No retry starts later than this, except for the first one after a deadlock. */
  withinMs: number
  /** Whether to retry after this error; by default only after a lost connection. */
  canRetry?: (error: unknown) => boolean
}
/** Runs the attempt, and retries it after retryable errors. */
export type Retry = <T>(attempt: () => Promise<T>, options: RetryOptions) => Promise<T>

/** Returns a function that retries attempts, no earlier than `gate` permits new connections. */
export const createRetry =
  (gate: Pick<ConnectGate, 'getPauseMs'>, onRetry: OnRetry = () => undefined): Retry =>
  async (attempt, { kind, withinMs, canRetry = isRetryable }) => {
    const startedAt = performance.now()
    for (let retries = 0; ; retries++) {
      try {
        return await attempt()
      } catch (error) {
        if (retries === maxRetries || !canRetry(error)) throw error
        const pauseMs = Math.max(gate.getPauseMs(), firstPauseMs * 4 ** retries * (0.5 + Math.random()))
        // PostgreSQL notices a deadlock only after 1 s, so one retry may start later.
        const mayBeLate = retries === 0 && isDeadlock(error)
        const isLate = performance.now() + pauseMs - startedAt > withinMs
        if (pauseMs > longestPauseMs || (isLate && !mayBeLate)) throw error
        await sleep(pauseMs)
        onRetry(kind)
      }
    }
  }
