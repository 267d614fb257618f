// Client of the process that runs the socket clients (socket-clients.ts).
import { type Child, endChild, startChild, until } from './children.ts'
import { createControl } from './control.ts'
import { freePort } from '@manager/harness/engines/postgres.ts'

export type SocketSpec = {
  url: string
  headers: Record<string, string>
  /** Group of the socket in the latency statistics. */
  group: string
}
/** An event on a socket. `socket` is its index in the order of opening. */
export type SocketEvent = { socket: number; at: number } &
  /** `tookMs` is the time since the start of the connection. */
  (
    | { kind: 'hello'; jitterMs: number; tookMs: number }
    /** `failed` means that the socket never received its hello. */
    | { kind: 'closed' | 'failed'; code: number; jitterMs: number }
    | { kind: 'refused'; status: number }
  )
/**
 * The arrival of a hint at a socket. A hint is a best-effort message. Its key is the notification title or
 * the topic.
 */
export type Arrival = { socket: number; key: string; at: number }

export type Sockets = {
  pid: number
  /**
   * Waits until all added sockets have received a hello, or for `ms`. Resolves to the number of open sockets that
   * have received a hello.
   */
  open(added: SocketSpec[], ms?: number): Promise<number>
  greeted(): Promise<number>
  /** Stops reading from these sockets until `resume`. */
  pause(sockets: number[]): Promise<void>
  resume(sockets: number[]): Promise<void>
  /** Terminates the connections without a close frame. */
  drop(sockets: number[]): Promise<void>
  /** From now on, records only the latencies of hints, whose keys must be `<phase> <number> <send time>`. */
  tally(): Promise<void>
  events(): Promise<SocketEvent[]>
  arrivals(): Promise<Arrival[]>
  /** Returns the latencies of the hints that a group received in a phase, in ascending order. */
  latencies(phase: string, group: string): Promise<number[]>
  clear(): Promise<void>
  end(): Promise<void>
}

const program = new URL('socket-clients.ts', import.meta.url).pathname
const openMs = 60_000

/** Starts the process. It has no sockets yet. */
export async function startSockets(folder: string): Promise<Sockets> {
  const port = await freePort()
  const child: Child = startChild({
    args: [program, String(port)],
    env: {},
    logFile: `${folder}/sockets.log`,
  })
  const control = createControl(port)
  await until('the start of the sockets', 20_000, async () => (await control('greeted')) === 0)
  return {
    pid: child.pid,
    open: (added, ms = openMs) => control('open', { added, ms }),
    greeted: () => control('greeted'),
    pause: (sockets) => control('pause', sockets),
    resume: (sockets) => control('resume', sockets),
    drop: (sockets) => control('drop', sockets),
    tally: () => control('tally'),
    events: () => control('events'),
    arrivals: () => control('arrivals'),
    latencies: (phase, group) => control('latencies', `${phase} ${group}`),
    clear: () => control('clear'),
    end: () => endChild(child),
  }
}
