// A TCP proxy whose present connections can go dark: nothing passes any more and nobody is told, as when a route dies.
import { type AddressInfo, type Socket, connect, createServer } from 'node:net'

export type DarkProxy = {
  port: number
  /** Stops passing bytes on the connections there are; new ones work. */
  goDark(): void
  /** Leads new connections elsewhere; those there are stay. */
  retarget(port: number): void
  /** Resets the connections there are. */
  reset(): void
  close(): Promise<void>
}

/** Listens on a free port and passes everything on to the target. */
export async function startDarkProxy(target: { host: string; port: number }): Promise<DarkProxy> {
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
    goDark: () => {
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
