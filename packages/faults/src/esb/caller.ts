// Callers in a process of their own, as the harness sees them (caller-program.ts runs them).
import { randomUUID } from 'node:crypto'
import { endChild, startChild, until } from '../children.ts'
import { createControl } from '../control.ts'
import { freePort } from '@manager/harness/engines/postgres.ts'

/** A kind of call; `{key}` in any of its texts becomes the key of the call. */
export type CallKind = {
  name: string
  url: string
  headers: Record<string, string>
  /** Without one it is a GET. */
  body?: string
}
export type Pace = {
  /** In turn. */
  kinds: readonly CallKind[]
  perSecond: number
  /** Calls beyond it are left out. */
  mostOpen?: number
  /** Nobody waits longer for an answer. */
  callMs?: number
  /** Each call has a connection of its own. */
  isFresh?: boolean
  /** Connections stay open for the next pace that says so, as those of a proxy do. */
  isKept?: boolean
}
/** How a call ended; `status` is 0 when no answer began. */
export type CallRecord = {
  kind: string
  key: string
  start: number
  ms: number
  status: number
  /** The answer came to its end. */
  isWhole: boolean
  /** The answer is the partner's own. */
  isOfPartner: boolean
  retryAfter: string | null
  /** SHA-256 of the body, in hex. */
  digest: string
  /** The beginning of an error, or why there was no whole answer. */
  problem: string
}
type RunningCalls = {
  /** No more calls from now on; resolves with all of them when the last has ended. */
  stop(): Promise<CallRecord[]>
}
export type Caller = {
  pid: number
  start(pace: Pace): Promise<RunningCalls>
  end(): Promise<void>
}

const program = new URL('caller-program.ts', import.meta.url).pathname

/** Starts the process; it calls nobody yet. */
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
