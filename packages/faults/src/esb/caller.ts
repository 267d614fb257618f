// Client of the process that runs the callers (caller-program.ts).
import { randomUUID } from 'node:crypto'
import { endChild, startChild, until } from '../children.ts'
import { createControl } from '../control.ts'
import { freePort } from '@manager/harness/engines/postgres.ts'

/** A kind of call. `{key}` in its URL, headers and body is replaced with the key of the call. */
export type CallKind = {
  name: string
  url: string
  headers: Record<string, string>
  /** A call without a body is a GET. */
  body?: string
}
export type Pace = {
  /** The kinds are used in rotation. */
  kinds: readonly CallKind[]
  perSecond: number
  /** Maximum number of open calls. Calls that would exceed it are skipped. */
  maxOpen?: number
  /** Timeout of a call. */
  callMs?: number
  /** Each call uses a new connection. */
  usesNewConnections?: boolean
  /** Keeps connections open, as a proxy does, and reuses them in the next load with this option. */
  keepsConnections?: boolean
}
/** The outcome of a call. `status` is 0 if no response arrived. */
export type CallRecord = {
  kind: string
  key: string
  start: number
  ms: number
  status: number
  /** Whether the response is complete. */
  isComplete: boolean
  /** Whether the response is from the partner. */
  isFromPartner: boolean
  retryAfter: string | null
  /** SHA-256 of the body, in hex. */
  digest: string
  /** Start of the error text, or the reason why the response is incomplete. */
  problem: string
}
type RunningCalls = {
  /** Stops sending and resolves with all records when the last call has completed. */
  stop(): Promise<CallRecord[]>
}
export type Caller = {
  pid: number
  start(pace: Pace): Promise<RunningCalls>
  end(): Promise<void>
}

const program = new URL('caller-program.ts', import.meta.url).pathname

/** Starts the process. It does not send calls yet. */
export async function startCaller(folder: string): Promise<Caller> {
  const port = await freePort()
  const child = startChild({
    args: ['--max-old-space-size=4096', program, String(port)],
    env: {},
    logFile: `${folder}/caller.log`,
  })
  const control = createControl(port)
  await until('the start of the callers', 20_000, async () => (await control('stop', 'none')) !== null)
  return {
    pid: child.pid,
    start: async (pace) => {
      const name = randomUUID()
      await control('start', { name, pace })
      return { stop: () => control<CallRecord[]>('stop', name) }
    },
    end: () => endChild(child),
  }
}
