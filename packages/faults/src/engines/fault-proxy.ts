// A link that breaks on demand, as the harness sees it (fault-proxy-server.ts runs it).
import { type Child, endChild, startChild, until } from '../children.ts'
import { createControl } from '../control.ts'
import { freePort } from '@manager/harness/engines/postgres.ts'

export type LinkFaults = {
  /**
   * `silent`: nothing passes and nobody is told, both ways, or only `-up`, to the target, or `-down`, from it; `refuse`: no
   * connection is accepted; `reset`: each is reset at once. The last two reset those that are open as well.
   */
  mode?: 'pass' | 'silent' | 'silent-up' | 'silent-down' | 'refuse' | 'reset'
  /** Each way, more or less by the jitter. */
  latencyMs?: number
  jitterMs?: number
  /** Each way, for each connection; 0 for no limit. */
  bytesPerSecond?: number
  /** Resets a connection when this many bytes came back on it, in the midst of an answer; 0 for never. */
  resetAfterBytes?: number
}
export type FaultProxy = {
  port: number
  /** These faults, instead of those there are. */
  set(faults: LinkFaults): Promise<void>
  /** No faults; connections that lost bytes are reset. */
  heal(): Promise<void>
  /** Resets the connections there are; resolves to how many. */
  resetOpen(): Promise<number>
  /** How many connections there are. */
  open(): Promise<number>
  end(): Promise<void>
}

const program = new URL('fault-proxy-server.ts', import.meta.url).pathname

/** Starts a proxy that passes everything on to the target. */
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
