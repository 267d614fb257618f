// Backs off while the database refuses connections: a server that is starting or has too many connections would spend
// its time refusing further attempts. After a failure, further attempts fail immediately for a while. This pause grows
// with each failure and is random, so that processes do not retry in step.
import type { Client } from 'pg'
import { Connection } from './connections.ts'

type ConnectCallback = ((error: Error) => void) | ((error: null, client: Client) => void)

const firstPauseMs = 50
const longestPauseMs = 1_000

/** The client classes that the pools of a process use to connect. */
export type ConnectGate = {
  /** Fails immediately during a pause. */
  GatedClient: typeof Connection
  /** Always attempts to connect; a success ends the pause for all pools. */
  ProbingClient: typeof Connection
  /** Remaining time of the pause. */
  getPauseMs(): number
}

/** `onFailure` is called for every failed attempt. */
export function createConnectGate(onFailure: (error: Error) => void = () => undefined): ConnectGate {
  let [pauseMs, pauseEndsAt] = [0, 0]
  let lastFailure: Error | null = null
  const recordAttempt = (error: Error | null): void => {
    lastFailure = error
    pauseMs = error === null ? 0 : Math.min(longestPauseMs, Math.max(firstPauseMs, pauseMs * 2))
    pauseEndsAt = performance.now() + pauseMs * (0.5 + Math.random() / 2)
  }
  class ProbingClient extends Connection {
    override connect(): Promise<Client>
    override connect(callback: ConnectCallback): void
    override connect(callback?: ConnectCallback): Promise<Client> | void {
      // Only pools pass a callback. Other callers get no gate.
      if (callback === undefined) return super.connect()
      super.connect((error: Error | null) => {
        // Failures of attempts that started before the last failure must not extend the pause.
        if (error === null || lastFailure === null || performance.now() >= pauseEndsAt) recordAttempt(error)
        if (error !== null) onFailure(error)
        invokeCallback(callback, error)
      })
    }
  }
  class GatedClient extends ProbingClient {
    override connect(): Promise<Client>
    override connect(callback: ConnectCallback): void
    override connect(callback?: ConnectCallback): Promise<Client> | void {
      if (callback === undefined) return super.connect()
      if (lastFailure === null || performance.now() >= pauseEndsAt) super.connect(callback)
      else process.nextTick(invokeCallback, callback, lastFailure)
    }
  }
  return {
    GatedClient,
    ProbingClient,
    getPauseMs: () => (lastFailure === null ? 0 : Math.max(0, pauseEndsAt - performance.now())),
  }
}

const invokeCallback = (callback: ConnectCallback, error: Error | null): void =>
  (callback as (error: Error | null) => void)(error)
