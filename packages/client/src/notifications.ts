// Hears of notifications as they come. The inbox is the truth: after every 'open' of `onState`, read it.
import { type Connection, addressOf, authorizationOf } from './connection.ts'
import { type Inbox, inboxPath } from './inbox.ts'
import { type CamelCase, toCamelCase } from './names.ts'
import type { CallOptions } from './request.ts'
import { type Frame, type SocketState, holdSocket } from './socket.ts'

/** It is in the inbox; its text, link and data are there. */
export type NotificationHint = {
  id: string
  notificationType: string | null
  title: string | null
  severity: 'info' | 'success' | 'warning' | 'error'
  createdAt: string
}
export type LiveData = { topic: string | null; data: unknown; publishedAt: string }
/** What was marked elsewhere. */
export type Marks = { ids: readonly string[] } | { all: true }
export type NotificationOptions = Inbox &
  CallOptions & {
    onNotification?: (notification: NotificationHint) => void
    onLive?: (live: LiveData) => void
    onRead?: (marks: Marks) => void
    onSeen?: (marks: Marks) => void
    onState?: (state: SocketState) => void
    /** Opens sockets instead of the platform's own. */
    openSocket?: (url: string, headers: Readonly<Record<string, string>>) => WebSocket
  }
export type OpenNotifications = {
  /** Names the socket, for the marks of the same page; null while there is none. */
  readonly connectionId: string | null
  close: () => void
}

/** Opens a websocket and keeps it open until `close` is called or the signal fires. */
export function openNotifications(connection: Connection, options: NotificationOptions): OpenNotifications {
  const { signal, onState, openSocket = openPlatformSocket } = options
  let connectionId: string | null = null
  const url = addressOf(connection, `${inboxPath(options)}/ws`).replace(/^http/, 'ws')
  signal?.throwIfAborted()
  const close = holdSocket({
    open: async () => openSocket(url, await socketHeadersOf(connection)),
    onFrame: (frame) => tell(options, frame),
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

/** Frames of a type that is not known are passed over. */
function tell(options: NotificationOptions, { type, ...fields }: Frame): void {
  const told = toCamelCase(fields) as CamelCase<never>
  if (type === 'notification') options.onNotification?.(told)
  else if (type === 'live') options.onLive?.(told)
  else if (type === 'notification.read') options.onRead?.(told)
  else if (type === 'notification.seen') options.onSeen?.(told)
}

async function socketHeadersOf(connection: Connection): Promise<Record<string, string>> {
  const authorization = await authorizationOf(connection)
  return authorization === null ? { ...connection.headers } : { ...connection.headers, authorization }
}

/** Node sends headers with a websocket; a page cannot, and its session is in a cookie. */
function openPlatformSocket(url: string, headers: Readonly<Record<string, string>>): WebSocket {
  return 'document' in globalThis || Object.keys(headers).length === 0
    ? new WebSocket(url)
    : new WebSocket(url, { headers } as unknown as string[])
}
