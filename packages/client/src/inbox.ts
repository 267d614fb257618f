// Reads and marks the notifications of the user who is signed in at the proxy.
import type { Connection } from './connection.ts'
import type {
  HasUnreadNotificationsAnswer,
  ListNotificationsAnswer,
  MarkNotificationsReadAnswer,
  Notification as StoredNotification,
} from './generated/rest.ts'
import { type CamelCase, type Simplify, encodePath, toCamelCase } from './names.ts'
import { type CallOptions, sendForJson } from './request.ts'

/** The inbox of an application, or the path at which a proxy serves it, such as /comms. */
export type Inbox = { applicationId: string; path?: never } | { path: string; applicationId?: never }
export type Notification = Simplify<CamelCase<StoredNotification>>
export type NotificationPage = {
  notifications: Notification[]
  /** The cursor of the next page, or null after the last page. */
  nextCursor: string | null
  hasMore: boolean
}
export type ListNotificationsOptions = CallOptions & {
  /** A number from 1 to 100. */
  limit?: number
  cursor?: string | null
  unread?: boolean
  type?: string
}
export type MarkOptions = CallOptions & {
  /** The id of the socket of the same page. This socket does not receive the update. */
  connectionId?: string | null
}

/** Returns the path of an inbox, relative to the root of the Manager. */
export const getInboxPath = ({ applicationId, path }: Inbox): string =>
  path ?? `/api/proxy/comms${encodePath([applicationId])}`

/** Returns a page of the inbox, newest first. */
export async function listNotifications(
  connection: Connection,
  inbox: Inbox,
  { limit, cursor, unread, type, signal }: ListNotificationsOptions = {},
): Promise<NotificationPage> {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries({ limit, cursor, unread, type }))
    if (value !== undefined && value !== null) query.set(name, String(value))
  const page = await sendForJson<ListNotificationsAnswer>(connection, {
    method: 'GET',
    path: `${getInboxPath(inbox)}/notifications?${query.toString()}`,
    signal,
  })
  return {
    notifications: page.notifications.map(toCamelCase),
    nextCursor: page.next_cursor,
    hasMore: page.has_more,
  }
}

/** Returns whether the inbox has unread notifications, but not how many. */
export async function isUnread(
  connection: Connection,
  inbox: Inbox,
  { signal }: CallOptions = {},
): Promise<boolean> {
  const path = `${getInboxPath(inbox)}/unread`
  return (await sendForJson<HasUnreadNotificationsAnswer>(connection, { method: 'GET', path, signal })).unread
}

/** Marks up to 500 notifications, or all, as read. Resolves to the number of changed notifications. */
export const markRead = async (
  connection: Connection,
  inbox: Inbox,
  ids: readonly string[] | 'all',
  options: MarkOptions = {},
): Promise<number> =>
  mark(
    connection,
    `${getInboxPath(inbox)}/notifications/read`,
    ids === 'all' ? { all: true } : { ids },
    options,
  )

/** Marks up to 500 notifications as seen on the screen. Resolves to the number of changed notifications. */
export const markSeen = async (
  connection: Connection,
  inbox: Inbox,
  ids: readonly string[],
  options: MarkOptions = {},
): Promise<number> => mark(connection, `${getInboxPath(inbox)}/notifications/seen`, { ids }, options)

async function mark(
  connection: Connection,
  path: string,
  selection: object,
  { connectionId, signal }: MarkOptions,
): Promise<number> {
  const json = { ...selection, connection_id: connectionId ?? undefined }
  const request = { method: 'POST', path, json, signal, isRepeatable: true }
  return (await sendForJson<MarkNotificationsReadAnswer>(connection, request)).updated
}
