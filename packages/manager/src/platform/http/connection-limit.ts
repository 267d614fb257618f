// How many connections a port holds. When it is full, a new connection takes the place of the one that has been silent
// for longest: connections that do nothing cost nothing to make, and must not keep those out that ask something.
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** `onClosed` is called for every connection that is closed for want of room. */
export function limitConnections(server: Server, max: number, onClosed: () => void): void {
  // Connections without a request under way, in the order in which they fell silent. Whether they ever asked anything
  // does not matter: a new connection has had no time to, and would be closed by the next one.
  const silent = new Set<Socket>()
  const requests = new WeakMap<Socket, number>()
  let open = 0
  server.on('connection', (socket: Socket) => {
    open++
    socket.once('close', () => {
      open--
      silent.delete(socket)
    })
    silent.add(socket)
    if (open <= max) return
    // At least the new one is silent.
    silent.values().next().value?.destroy()
    onClosed()
  })
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    silent.delete(socket)
    // Requests may be sent one behind the other, without waiting for answers.
    requests.set(socket, (requests.get(socket) ?? 0) + 1)
    response.once('close', () => {
      const left = (requests.get(socket) ?? 1) - 1
      requests.set(socket, left)
      if (left === 0 && !socket.destroyed) silent.add(socket)
    })
  })
}
