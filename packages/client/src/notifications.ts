// Receives notifications live. The inbox is authoritative: read the inbox after every 'open' state.
import { type Connection, getAddress, getAuthorization } from './connection.ts'
import { type Inbox, getInboxPath } from './inbox.ts'
import { type CamelCase, toCamelCase } from './names.ts'
import type { CallOptions } from './request.ts'
import { type Frame, type SocketState, maintainSocket } from './socket.ts'

/** Announces a notification. The text, link and data are in the inbox. */
export type NotificationHint = {
  id: string
  notificationType: string | null
  title: string | null
  severity: 'info' | 'success' | 'warning' | 'error'
  createdAt: string
}
export type LiveData = { topic: string | null; data: unknown; publishedAt: string }
/** Notifications that another page marked. */
export type Marks = { ids: readonly string[] } | { all: true }
export type NotificationOptions = Inbox &
  CallOptions & {
    onNotification?: (notification: NotificationHint) => void
    onLive?: (live: LiveData) => void
    onRead?: (marks: Marks) => void
    onSeen?: (marks: Marks) => void
    onState?: (state: SocketState) => void
    /** Replaces the global WebSocket. */
    openSocket?: (url: string, headers: Readonly<Record<string, string>>) => WebSocket
  }
export type OpenNotifications = {
  /** The id of the socket, to pass when the same page marks notifications. Null while the socket is not connected. */
  readonly connectionId: string | null
  close: () => void
}

/** Opens a WebSocket and reconnects it until `close` is called or the signal is aborted. */
export function openNotifications(connection: Connection, options: NotificationOptions): OpenNotifications {
  const { signal, onState, openSocket = openPlatformSocket } = options
  let connectionId: string | null = null
  const url = getAddress(connection, `${getInboxPath(options)}/ws`).replace(/^http/, 'ws')
  signal?.throwIfAborted()
  const close = maintainSocket({
    open: async () => openSocket(url, await getSocketHeaders(connection)),
    onFrame: (frame) => dispatch(options, frame),
    onState: (state) => {
      connectionId = state.status === 'open' ? state.connectionId : null
      if (state.status === 'ended') signal?.removeEventListener('abort', close)
      onState?.(state)
    },
  })
  signal?.addEventListener('abort', close, { once: true })
  return {
    get connectionId() {
      return connectionId
    },
    close,
  }
}

/** Calls the callback for the type of a frame. Ignores unknown types. */
function dispatch(options: NotificationOptions, { type, ...fields }: Frame): void {
  const content = toCamelCase(fields) as CamelCase<never>
  if (type === 'notification') options.onNotification?.(content)
  else if (type === 'live') options.onLive?.(content)
  else if (type === 'notification.read') options.onRead?.(content)
  else if (type === 'notification.seen') options.onSeen?.(content)
}

async function getSocketHeaders(connection: Connection): Promise<Record<string, string>> {
  const authorization = await getAuthorization(connection)
  return authorization === null ? { ...connection.headers } : { ...connection.headers, authorization }
}

/** Node can send headers with a WebSocket. A browser cannot, but it sends the session cookie. */
function openPlatformSocket(url: string, headers: Readonly<Record<string, string>>): WebSocket {
  return 'document' in globalThis || Object.keys(headers).length === 0
    ? new WebSocket(url)
    : new WebSocket(url, { headers } as unknown as string[])
}
