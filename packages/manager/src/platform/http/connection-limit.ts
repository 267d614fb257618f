// How many connections a port holds, and what one of them may keep waiting. When the port is full, a new connection takes
// the place of the one that has been silent for longest: connections that do nothing cost nothing to make, and must not
// keep those out that ask something. Nor must those that ask and do not take their answers.
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export type ConnectionLimits = {
  /** Connections the port holds at once. */
  max: number
  /** How long a caller may take nothing of an answer that waits for them; 30 seconds unless said. */
  unreadMs?: number
}

const defaultUnreadMs = 30_000
// Each request that is sent behind others is held, with its answer, until those before it are taken. Some thousand fit into
// what Node reads at once.
const maxPipelined = 100

/**
 * Call it when the server has its handler: requests beyond the limits do not reach that. `onClosed` is called for every
 * connection that is closed for want of room, or for what it keeps waiting.
 */
export function limitConnections(server: Server, limits: ConnectionLimits, onClosed: () => void): void {
  // Connections without a request under way, in the order in which they fell silent. Whether they ever asked anything
  // does not matter: a new connection has had no time to, and would be closed by the next one.
  const silent = new Set<Socket>()
  // Connections with requests under way, and how many.
  const busy = new Map<Socket, number>()
  const forget = (socket: Socket): void => {
    silent.delete(socket)
    busy.delete(socket)
  }
  const close = (socket: Socket): void => {
    // At once: until it is told of the end, the next one would be let in for it too.
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
    const underway = (busy.get(socket) ?? 0) + 1
    if (underway > maxPipelined) return close(socket)
    silent.delete(socket)
    busy.set(socket, underway)
    response.once('close', () => {
      if (socket.destroyed) return
      const left = (busy.get(socket) ?? 1) - 1
      if (left > 0) return void busy.set(socket, left)
      busy.delete(socket)
      silent.add(socket)
    })
    for (const handle of handlers) handle.call(server, request, response)
  })

  const unreadMs = limits.unreadMs ?? defaultUnreadMs
  server.setTimeout(unreadMs)
  // Nothing has moved on the connection for so long. Node closes it unless somebody listens.
  server.on('timeout', (socket: Socket) => {
    const isUnread = socket.writableLength > 0
    // Whoever waits for an answer that is not there yet is not to blame.
    if (busy.has(socket) && !isUnread) socket.setTimeout(unreadMs)
    else if (isUnread) close(socket)
    else socket.destroy()
  })
}

/** The one that is silent for longest; if only the new one is, one that does not take its answer as fast as it comes. */
function leastMissed(silent: ReadonlySet<Socket>, busy: ReadonlyMap<Socket, number>): Socket {
  const [longest] = silent
  if (silent.size > 1) return longest as Socket
  return busy.keys().find((socket) => socket.writableLength > 0) ?? (longest as Socket)
}
