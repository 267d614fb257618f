// Backs off while the database refuses connections: a server that is starting or has too many connections would spend
// its time refusing further attempts. After a failure, further attempts fail immediately for a while. This pause grows
// with each failure and is random, so that processes do not retry in step.
import type { Client } from 'pg'
import { Connection } from './connections.ts'

type Connected = ((error: Error) => void) | ((error: null, client: Client) => void)

const firstPauseMs = 50
const longestPauseMs = 1_000

/** The client classes that the pools of a process use to connect. */
export type ConnectGate = {
  /** Fails immediately during a pause. */
  GatedClient: typeof Connection
  /** Always attempts to connect; a success ends the pause for all pools. */
  ProbingClient: typeof Connection
  /** Remaining time of the pause. */
  pauseMs(): number
}

/** `onFailure` is called for every failed attempt. */
export function createConnectGate(onFailure: (error: Error) => void = () => undefined): ConnectGate {
  let [pauseMs, until] = [0, 0]
  let failure: Error | null = null
  const note = (error: Error | null): void => {
    failure = error
    pauseMs = error === null ? 0 : Math.min(longestPauseMs, Math.max(firstPauseMs, pauseMs * 2))
    until = performance.now() + pauseMs * (0.5 + Math.random() / 2)
  }
  class ProbingClient extends Connection {
    override connect(): Promise<Client>
    override connect(callback: Connected): void
    override connect(callback?: Connected): Promise<Client> | void {
      // Pools connect with a callback.
      if (callback === undefined) return super.connect()
      super.connect((error: Error | null) => {
        // Failures of attempts that started before the last failure must not extend the pause.
        if (error === null || failure === null || performance.now() >= until) note(error)
        if (error !== null) onFailure(error)
        callBack(callback, error)
      })
    }
  }
  class GatedClient extends ProbingClient {
    override connect(): Promise<Client>
    override connect(callback: Connected): void
    override connect(callback?: Connected): Promise<Client> | void {
      if (callback === undefined) return super.connect()
      if (failure === null || performance.now() >= until) super.connect(callback)
      else process.nextTick(callBack, callback, failure)
    }
  }
  return {
    GatedClient,
    ProbingClient,
    pauseMs: () => (failure === null ? 0 : Math.max(0, until - performance.now())),
  }
}

const callBack = (callback: Connected, error: Error | null): void =>
  (callback as (error: Error | null) => void)(error)
