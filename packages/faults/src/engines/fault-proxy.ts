// Controls a link that breaks on demand (fault-proxy-server.ts).
import { type Child, endChild, startChild, until } from '../children.ts'
import { createControl } from '../control.ts'
import { freePort } from '@manager/harness/engines/postgres.ts'

export type LinkFaults = {
  /**
   * `silent` drops all bytes without an error, in both directions, only toward the target (`-up`) or only
   * from the target (`-down`). `refuse` rejects new connections and `reset` resets them immediately. Both
   * also reset open connections.
   */
  mode?: 'pass' | 'silent' | 'silent-up' | 'silent-down' | 'refuse' | 'reset'
  /** Latency in each direction, plus or minus the jitter. */
  latencyMs?: number
  jitterMs?: number
  /** The bandwidth limit per connection and direction. 0 means no limit. */
  bytesPerSecond?: number
  /** Resets a connection after it has returned this number of bytes, in the middle of a response. 0 means never. */
  resetAfterBytes?: number
}
export type FaultProxy = {
  port: number
  /** Replaces the current faults. */
  set(faults: LinkFaults): Promise<void>
  /** Removes all faults, and resets connections that have lost bytes. */
  heal(): Promise<void>
  /** Resets the open connections and resolves to their number. */
  resetOpen(): Promise<number>
  /** Resolves to the number of open connections. */
  open(): Promise<number>
  end(): Promise<void>
}

const program = new URL('fault-proxy-server.ts', import.meta.url).pathname

/** Starts a proxy without faults in front of the target. */
export async function startFaultProxy(
  folder: string,
  target: { host: string; port: number },
): Promise<FaultProxy> {
  const [port, controlPort] = [await freePort(), await freePort()]
  const child: Child = startChild({
    args: [program, String(port), target.host, String(target.port), String(controlPort)],
    env: {},
    logFile: `${folder}/fault-proxy-${target.port}.log`,
  })
  const control = createControl(controlPort)
  await until('the start of a fault proxy', 20_000, async () => (await control<number>('open')) === 0)
  return {
    port,
    set: (faults) => control('set', faults),
    heal: () => control('set', {}),
    resetOpen: () => control('resetOpen'),
    open: () => control('open'),
    end: () => endChild(child),
  }
}
