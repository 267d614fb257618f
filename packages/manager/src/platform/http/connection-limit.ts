// Limits the connections of a port, and the data that a connection may leave unread. When the port is full, a new
// connection replaces the one that has been silent for longest. Idle connections cost a client nothing, and must not
// keep out connections that send requests. The same applies to connections that do not read their responses.
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { switchingProtocols } from './upgrades.ts'

/** Limits of one port. */
export type ConnectionLimits = {
  /** Maximum number of open connections. */
  max: number
  /** How long a caller may leave a waiting response unread; 30 s by default. */
  unreadMs?: number
}

const defaultUnreadMs = 30_000
// Each pipelined request stays in memory, with its response, until the responses before it are read. Several thousand
// requests fit into one read of Node.
const maxPipelined = 100

/**
 * Call it after the server has its handler: requests beyond the limits do not reach the handler. `onClosed` is called
 * for every connection that is closed because the port is full, or because it leaves responses unread.
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
    // The socket is forgotten before its close event; otherwise a second connection would be admitted in its place.
    forget(socket)
    socket.destroy()
    onClosed()
  }
  server.on('connection', (socket: Socket) => {
    socket.once('close', () => forget(socket))
    silent.add(socket)
    if (silent.size + busy.size > limits.max) close(selectConnectionToClose(silent, busy))
  })

  const handlers = server.listeners('request')
  server.removeAllListeners('request')
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request
    // Node continues to parse data that it has already read.
    if (socket.destroyed) return
    const inFlight = (busy.get(socket) ?? 0) + 1
    if (inFlight > maxPipelined) return close(socket)
    silent.delete(socket)
    busy.set(socket, inFlight)
    response.once('close', () => {
      if (socket.destroyed) return
      // The connection was upgraded, and its new owner counts it.
      if (response.statusCode === switchingProtocols) return forget(socket)
      const left = (busy.get(socket) ?? 1) - 1
      if (left > 0) return void busy.set(socket, left)
      busy.delete(socket)
      silent.add(socket)
    })
    for (const handle of handlers) handle.call(server, request, response)
  })

  const unreadMs = limits.unreadMs ?? defaultUnreadMs
  server.setTimeout(unreadMs)
  // Called when no data has moved on the connection for this time. Without a listener, Node closes the connection.
  server.on('timeout', (socket: Socket) => {
    const isUnread = socket.writableLength > 0
    // A caller that waits for an unfinished response keeps its connection.
    if (busy.has(socket) && !isUnread) socket.setTimeout(unreadMs)
    else if (isUnread) close(socket)
    else socket.destroy()
  })
}

/**
 * Returns the connection that has been silent for longest. If only the new one is silent, prefers a connection
 * that does not read its responses.
 */
function selectConnectionToClose(silent: ReadonlySet<Socket>, busy: ReadonlyMap<Socket, number>): Socket {
  const [longest] = silent
  if (silent.size > 1) return longest as Socket
  return busy.keys().find((socket) => socket.writableLength > 0) ?? (longest as Socket)
}
