// How many connections a port holds, and what one of them may leave unread. When the port is full, a new connection
// takes the place of the one that has been silent for longest: connections that do nothing cost nothing to make, and
// must not keep out those that send requests. Nor must those that send requests and do not read the responses.
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { switched } from './upgrades.ts'

export type ConnectionLimits = {
  /** Connections the port holds at once. */
  max: number
  /** How long a caller may read nothing of a response that waits for them; 30 seconds by default. */
  unreadMs?: number
}

const defaultUnreadMs = 30_000
// Each pipelined request is held, with its response, until the responses before it are read. Some thousand fit into
// what Node reads at once.
const maxPipelined = 100

/**
 * Call it when the server has its handler: requests beyond the limits do not reach that. `onClosed` is called for every
 * connection that is closed because the port is full, or because it leaves responses unread.
 */
export function limitConnections(server: Server, limits: ConnectionLimits, onClosed: () => void): void {
  // Connections without a request in flight, in the order in which they fell silent. Whether they ever sent a request
  // does not matter: a new connection has had no time to, and would be closed by the next one.
  const silent = new Set<Socket>()
  // Connections with requests in flight, and how many.
  const busy = new Map<Socket, number>()
  const forget = (socket: Socket): void => {
    silent.delete(socket)
    busy.delete(socket)
  }
  const close = (socket: Socket): void => {
    // At once: until the close event comes, the next connection would be let in for it too.
    forget(socket)
    socket.destroy()
    onClosed()
  }
  server.on('connection', (socket: Socket) => {
    socket.once('close', () => forget(socket))
    silent.add(socket)
    if (silent.size + busy.size > limits.max) close(leastMissed(silent, busy))
  })

  const handlers = server.listeners('request')
  server.removeAllListeners('request')
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request
    // Node goes on with what it has read already.
    if (socket.destroyed) return
    const inFlight = (busy.get(socket) ?? 0) + 1
    if (inFlight > maxPipelined) return close(socket)
    silent.delete(socket)
    busy.set(socket, inFlight)
    response.once('close', () => {
      if (socket.destroyed) return
      // It has left HTTP, and whoever has taken it counts it.
      if (response.statusCode === switched) return forget(socket)
      const left = (busy.get(socket) ?? 1) - 1
      if (left > 0) return void busy.set(socket, left)
      busy.delete(socket)
      silent.add(socket)
    })
    for (const handle of handlers) handle.call(server, request, response)
  })

  const unreadMs = limits.unreadMs ?? defaultUnreadMs
  server.setTimeout(unreadMs)
  // Nothing has moved on the connection for this time. Node closes it unless there is a listener.
  server.on('timeout', (socket: Socket) => {
    const isUnread = socket.writableLength > 0
    // A caller that waits for a response that is not ready yet is not to blame.
    if (busy.has(socket) && !isUnread) socket.setTimeout(unreadMs)
    else if (isUnread) close(socket)
    else socket.destroy()
  })
}

/** The one silent for longest; if only the new one is, one that does not read its response as fast as it comes. */
function leastMissed(silent: ReadonlySet<Socket>, busy: ReadonlyMap<Socket, number>): Socket {
  const [longest] = silent
  if (silent.size > 1) return longest as Socket
  return busy.keys().find((socket) => socket.writableLength > 0) ?? (longest as Socket)
}
