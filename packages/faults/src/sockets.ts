// The people who look, as the harness sees them (socket-clients.ts runs them).
import { type Child, endChild, startChild, until } from './children.ts'
import { createControl } from './control.ts'
import { freePort } from '@manager/harness/engines/postgres.ts'

export type SocketSpec = {
  url: string
  headers: Record<string, string>
  /** Whom it is counted with. */
  group: string
}
/** What happened to a socket, which is named by its place in the order of opening. */
export type SocketEvent = { socket: number; at: number } &
  /** `tookMs` is the time since it began to connect. */
  (
    | { kind: 'hello'; jitterMs: number; tookMs: number }
    /** `failed` is one that never got its hello. */
    | { kind: 'closed' | 'failed'; code: number; jitterMs: number }
    | { kind: 'refused'; status: number }
  )
/** A hint that a socket got; its key is the title of the notification, or the topic. */
export type Arrival = { socket: number; key: string; at: number }

export type Sockets = {
  pid: number
  /** Resolves to how many have their hello, all of them or those that have it after the time. */
  open(added: SocketSpec[], ms?: number): Promise<number>
  greeted(): Promise<number>
  /** Reads no more from these, and goes on with it. */
  pause(sockets: number[]): Promise<void>
  resume(sockets: number[]): Promise<void>
  /** Cuts the connections without a word. */
  drop(sockets: number[]): Promise<void>
  /** From now on only how late hints are is noted; their keys are `<phase> <number> <time of sending>`. */
  tally(): Promise<void>
  events(): Promise<SocketEvent[]>
  arrivals(): Promise<Arrival[]>
  /** How late the hints of a phase reached a group, the least late first. */
  latencies(phase: string, group: string): Promise<number[]>
  clear(): Promise<void>
  end(): Promise<void>
}

const program = new URL('socket-clients.ts', import.meta.url).pathname
const openMs = 60_000

/** Starts the process; it has no sockets yet. */
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
