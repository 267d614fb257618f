// The notifications of the person who is signed in at the proxy.
import type { Connection } from './connection.ts'
import type {
  HasUnreadNotificationsAnswer,
  ListNotificationsAnswer,
  MarkNotificationsReadAnswer,
  Notification as StoredNotification,
} from './generated/rest.ts'
import { type CamelCase, type Plain, pathOf, toCamelCase } from './names.ts'
import { type CallOptions, sendForJson } from './request.ts'

/** Whose inbox: of an application, or where a proxy has it, such as /comms. */
export type Inbox = { applicationId: string; path?: never } | { path: string; applicationId?: never }
export type Notification = Plain<CamelCase<StoredNotification>>
export type NotificationPage = {
  notifications: Notification[]
  /** Where the next page begins; null after the last one. */
  nextCursor: string | null
  hasMore: boolean
}
export type ListNotificationsOptions = CallOptions & {
  /** From 1 to 100. */
  limit?: number
  cursor?: string | null
  unread?: boolean
  type?: string
}
export type MarkOptions = CallOptions & {
  /** The socket of the same page, which need not hear of it. */
  connectionId?: string | null
}

/** The address of an inbox, from the root of the Manager. */
export const inboxPath = ({ applicationId, path }: Inbox): string =>
  path ?? `/api/proxy/comms${pathOf([applicationId])}`

/** A page of the inbox, newest first. */
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
    path: `${inboxPath(inbox)}/notifications?${query.toString()}`,
    signal,
  })
  return {
    notifications: page.notifications.map(toCamelCase),
    nextCursor: page.next_cursor,
    hasMore: page.has_more,
  }
}

/** Whether anything is unread; how much is not said. */
export async function isUnread(
  connection: Connection,
  inbox: Inbox,
  { signal }: CallOptions = {},
): Promise<boolean> {
  const path = `${inboxPath(inbox)}/unread`
  return (await sendForJson<HasUnreadNotificationsAnswer>(connection, { method: 'GET', path, signal })).unread
}

/** Marks up to 500 notifications as read, or all; resolves to how many were not. */
export const markRead = async (
  connection: Connection,
  inbox: Inbox,
  ids: readonly string[] | 'all',
  options: MarkOptions = {},
): Promise<number> =>
  mark(connection, `${inboxPath(inbox)}/notifications/read`, ids === 'all' ? { all: true } : { ids }, options)

/** Marks up to 500 notifications as seen: they were on the screen; resolves to how many were not. */
export const markSeen = async (
  connection: Connection,
  inbox: Inbox,
  ids: readonly string[],
  options: MarkOptions = {},
): Promise<number> => mark(connection, `${inboxPath(inbox)}/notifications/seen`, { ids }, options)

async function mark(
  connection: Connection,
  path: string,
  chosen: object,
  { connectionId, signal }: MarkOptions,
): Promise<number> {
  const json = { ...chosen, connection_id: connectionId ?? undefined }
  const request = { method: 'POST', path, json, signal, isRepeatable: true }
  return (await sendForJson<MarkNotificationsReadAnswer>(connection, request)).updated
}
