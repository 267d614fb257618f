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

const defaultUnreadTimeoutMs = 30_000
// Each pipelined request stays in memory with its response until the preceding responses have been read. Node can read
// several thousand requests at once.
const maxPipelined = 100

/**
 * Limits the connections of a server. Call this function after the server has its handler: requests beyond
 * the limits do not reach the handler. `onClosed` is called for every connection that is closed because the
 * port is full, or because it leaves responses unread.
 */
export function limitConnections(server: Server, limits: ConnectionLimits, onClosed: () => void): void {
  // Connections without a request in flight, in the order in which they fell silent. A connection that has not sent a
  // request yet is treated like the others: it may be new, and must not be the first to be replaced.
  const silentConnections = new Set<Socket>()
  // Number of requests in flight per connection.
  const requestCounts = new Map<Socket, number>()
  const forgetConnection = (socket: Socket): void => {
    silentConnections.delete(socket)
    requestCounts.delete(socket)
  }
  const closeConnection = (socket: Socket): void => {
    // Forget the socket before its close event. Otherwise, it could be selected again, and two connections would
    // replace it.
    forgetConnection(socket)
    socket.destroy()
    onClosed()
  }
  server.on('connection', (socket: Socket) => {
    socket.once('close', () => forgetConnection(socket))
    silentConnections.add(socket)
    if (silentConnections.size + requestCounts.size > limits.max)
      closeConnection(selectConnectionToClose(silentConnections, requestCounts))
  })

  const handlers = server.listeners('request')
  server.removeAllListeners('request')
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request
    // Node continues to parse data that it has already read.
    if (socket.destroyed) return
    const requestCount = (requestCounts.get(socket) ?? 0) + 1
    if (requestCount > maxPipelined) return closeConnection(socket)
    silentConnections.delete(socket)
    requestCounts.set(socket, requestCount)
    response.once('close', () => {
      if (socket.destroyed) return
      // The connection was upgraded, and its new owner counts the connection.
      if (response.statusCode === switchingProtocols) return forgetConnection(socket)
      const remainingCount = (requestCounts.get(socket) ?? 1) - 1
      if (remainingCount > 0) return void requestCounts.set(socket, remainingCount)
      requestCounts.delete(socket)
      silentConnections.add(socket)
    })
    for (const handle of handlers) handle.call(server, request, response)
  })

  const unreadMs = limits.unreadMs ?? defaultUnreadTimeoutMs
  server.setTimeout(unreadMs)
  // Called when a connection has been idle for `unreadMs`. Without a listener, Node closes the connection.
  server.on('timeout', (socket: Socket) => {
    const isUnread = socket.writableLength > 0
    // A caller that waits for an unfinished response keeps its connection.
    if (requestCounts.has(socket) && !isUnread) socket.setTimeout(unreadMs)
    else if (isUnread) closeConnection(socket)
    else socket.destroy()
  })
}

/**
 * Returns the connection that has been silent for longest. If only the new connection is silent, prefers a
 * connection that does not read its responses.
 */
function selectConnectionToClose(
  silentConnections: ReadonlySet<Socket>,
  requestCounts: ReadonlyMap<Socket, number>,
): Socket {
  const [longestSilent] = silentConnections
  if (silentConnections.size > 1) return longestSilent as Socket
  return requestCounts.keys().find((socket) => socket.writableLength > 0) ?? (longestSilent as Socket)
}
