// A TCP proxy that can stop forwarding on open connections without closing them, as a failed network route does.
import { type AddressInfo, type Socket, connect, createServer } from 'node:net'

export type BlackholeProxy = {
  port: number
  /** Stops forwarding on all open connections. New connections work. */
  blackhole(): void
  /** Forwards new connections to a different port. Open connections keep their target. */
  retarget(port: number): void
  /** Resets the open connections. */
  reset(): void
  close(): Promise<void>
}

/** Listens on a free port and forwards all connections to the target. */
export async function startBlackholeProxy(target: { host: string; port: number }): Promise<BlackholeProxy> {
  const pairs = new Set<[Socket, Socket]>()
  let { port: targetPort } = target
  const server = createServer((inbound) => {
    const outbound = connect(targetPort, target.host)
    const pair: [Socket, Socket] = [inbound, outbound]
    pairs.add(pair)
    inbound.pipe(outbound)
    outbound.pipe(inbound)
    for (const socket of pair) {
      socket.on('error', () => undefined)
      socket.on('close', () => {
        pairs.delete(pair)
        for (const other of pair) other.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    blackhole: () => {
      for (const [inbound, outbound] of pairs) {
        inbound.unpipe(outbound)
        outbound.unpipe(inbound)
      }
    },
    retarget: (to) => {
      targetPort = to
    },
    reset: () => {
      for (const pair of pairs) for (const socket of pair) socket.resetAndDestroy()
    },
    close: async () => {
      for (const pair of pairs) for (const socket of pair) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
