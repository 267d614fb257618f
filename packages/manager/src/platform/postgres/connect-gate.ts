// When the database refuses connections, not every request tries to open one: a server that starts, or has too many
// already, would be busy refusing. After a failure further attempts fail at once for a while, longer each time, and
// differently long in each process.
import type { Client } from 'pg'
import { Connection } from './connections.ts'

type Connected = ((error: Error) => void) | ((error: null, client: Client) => void)

const firstPauseMs = 50
const longestPauseMs = 1_000

/** What the pools of a process make their connections with. */
export type ConnectGate = {
  /** Fails at once during a pause. */
  Patient: typeof Connection
  /** Always tries: one success opens the way for all. */
  Probing: typeof Connection
  /** How long attempts still fail at once. */
  pauseMs(): number
}

/** `onFailure` hears of every attempt that failed. */
export function createConnectGate(onFailure: (error: Error) => void = () => undefined): ConnectGate {
  let [pauseMs, until] = [0, 0]
  let failure: Error | null = null
  const note = (error: Error | null): void => {
    failure = error
    pauseMs = error === null ? 0 : Math.min(longestPauseMs, Math.max(firstPauseMs, pauseMs * 2))
    until = performance.now() + pauseMs * (0.5 + Math.random() / 2)
  }
  class Probing extends Connection {
    override connect(): Promise<Client>
    override connect(callback: Connected): void
    override connect(callback?: Connected): Promise<Client> | void {
      // Pools connect with a callback.
      if (callback === undefined) return super.connect()
      super.connect((error: Error | null) => {
        // Attempts that began before the last failure was known tell nothing new.
        if (error === null || failure === null || performance.now() >= until) note(error)
        if (error !== null) onFailure(error)
        tell(callback, error)
      })
    }
  }
  class Patient extends Probing {
    override connect(): Promise<Client>
    override connect(callback: Connected): void
    override connect(callback?: Connected): Promise<Client> | void {
      if (callback === undefined) return super.connect()
      if (failure === null || performance.now() >= until) super.connect(callback)
      else process.nextTick(tell, callback, failure)
    }
  }
  return { Patient, Probing, pauseMs: () => (failure === null ? 0 : Math.max(0, until - performance.now())) }
}

const tell = (callback: Connected, error: Error | null): void =>
  (callback as (error: Error | null) => void)(error)
