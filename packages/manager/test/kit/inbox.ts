// Seeds notifications with SQL, and makes inbox calls through the proxy.
import type { Pool } from 'pg'
import { v7 } from 'uuid'
import { type Person, proxySecret } from '@manager/harness/callers.ts'
import type { TestApp } from './app.ts'
import { type RawAnswer, rawCall } from './http.ts'

export type Inbox = { tenantId: string; applicationId: string }
export type SeededNotification = {
  /** The creation time. The default is the current time. */
  at?: Date
  type?: string | null
  title?: string | null
  body?: string | null
  severity?: string
  link?: string | null
  /** The data as JSON. */
  data?: string | null
  expiresAt?: Date | null
  readAt?: Date | null
  seenAt?: Date | null
}

/** Seeds notifications for these recipients and returns their ids, which ascend even within the same millisecond. */
export async function seedNotifications(
  sql: Pool,
  { tenantId, applicationId }: Inbox,
  recipients: readonly Pick<Person, 'id'>[],
  notifications: readonly SeededNotification[],
): Promise<string[]> {
  const now = Date.now()
  const rows = notifications.map((one, seq) => {
    const at = one.at ?? new Date(now)
    const severity = one.severity ?? 'info'
    return { ...one, id: v7({ msecs: at.getTime(), seq }), at, severity, type: one.type ?? null }
  })
  await sql.query(
    `insert into notifications (id, created_at, tenant_id, application_id, type, title, body, severity, link, data, expires_at)
     select (n ->> 'id')::uuid, (n ->> 'at')::timestamptz, $1, $2, n ->> 'type', n ->> 'title', n ->> 'body',
       n ->> 'severity', n ->> 'link', (n ->> 'data')::json, (n ->> 'expiresAt')::timestamptz
     from json_array_elements($3::json) n`,
    [tenantId, applicationId, JSON.stringify(rows)],
  )
  await sql.query(
    `insert into notification_recipients
       (tenant_id, application_id, user_id, created_at, notification_id, type, expires_at, read_at, seen_at)
     select $1, $2, person, (n ->> 'at')::timestamptz, (n ->> 'id')::uuid, n ->> 'type',
       (n ->> 'expiresAt')::timestamptz, (n ->> 'readAt')::timestamptz, (n ->> 'seenAt')::timestamptz
     from json_array_elements($3::json) n cross join unnest($4::uuid[]) as person`,
    [tenantId, applicationId, JSON.stringify(rows), recipients.map(({ id }) => id)],
  )
  return rows.map(({ id }) => id)
}

/** Adds partitions for earlier months, so that tests can insert rows of any age that retention allows. */
export async function addPastMonths(sql: Pool, count = 4): Promise<void> {
  const { rows } = await sql.query<{ from: string; to: string }>(
    `select to_char(month, 'YYYY-MM-01') as from, to_char(month + interval '1 month', 'YYYY-MM-01') as to
     from generate_series(2, $1::int + 1) n, lateral (
       select date_trunc('month', now() at time zone 'UTC') - n * interval '1 month' as month) m`,
    [count],
  )
  for (const { from, to } of rows)
    for (const parent of ['notifications', 'notification_recipients'])
      await sql.query(
        `create table if not exists ${parent}_${from.slice(0, 7).replace('-', '_')} partition of ${parent}
         for values from ('${from} 00:00:00+00') to ('${to} 00:00:00+00')`,
      )
}

/** Returns the rows of one person in an inbox, newest first. */
export async function recipientRows(
  sql: Pool,
  { tenantId, applicationId }: Inbox,
  person: Pick<Person, 'id'>,
) {
  const { rows } = await sql.query<{ id: string; readAt: Date | null; seenAt: Date | null }>(
    `select notification_id as id, read_at as "readAt", seen_at as "seenAt" from notification_recipients
     where tenant_id = $1 and application_id = $2 and user_id = $3 order by notification_id desc`,
    [tenantId, applicationId, person.id],
  )
  return rows
}

type Item = {
  id: string
  type: string | null
  read: boolean
  read_at: string | null
  seen: boolean
  seen_at: string | null
} & Record<string, unknown>
export type Page = { notifications: Item[]; next_cursor: string | null; has_more: boolean }
export type Called<Body> = { status: number; body: Body; text: string; headers: RawAnswer['headers'] }

/** Returns the headers that the proxy sends for a person in a tenant. */
export const tenantHeaders = (
  person: Pick<Person, 'id'>,
  { tenantId }: Pick<Inbox, 'tenantId'>,
): [string, string][] => [
  ['X-Proxy-Auth', proxySecret],
  ['X-User-Id', person.id],
  ['X-Tenant-Id', tenantId],
]

type Sent = { path: string; headers: [string, string][]; body?: unknown }

/** Calls a path below `/api/proxy/comms/`. The call is a POST if it has a body. */
export async function callComms<Body>(url: string, { path, headers, body }: Sent): Promise<Called<Body>> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const answer = await rawCall(url, {
    path: `/api/proxy/comms/${path}`,
    headers: body === undefined ? headers : [...headers, ['Content-Type', 'application/json']],
    ...(body === undefined ? {} : { method: 'POST', body: text }),
  })
  return {
    status: answer.status,
    body: JSON.parse(answer.body) as Body,
    text: answer.body,
    headers: answer.headers,
  }
}

/** Returns inbox calls for any person. `service` is read on each call. */
export function inboxCalls(service: () => Pick<TestApp, 'url'>) {
  const call =
    <Body>(path: string) =>
    (inbox: Inbox, person: Pick<Person, 'id'>, body?: unknown): Promise<Called<Body>> =>
      callComms<Body>(service().url, {
        path: `${inbox.applicationId}/${path}`,
        headers: tenantHeaders(person, inbox),
        body,
      })
  return {
    list: (inbox: Inbox, person: Pick<Person, 'id'>, query = '') =>
      call<Page>(`notifications${query}`)(inbox, person),
    unread: (inbox: Inbox, person: Pick<Person, 'id'>) => call<{ unread: boolean }>('unread')(inbox, person),
    read: call<{ updated: number; error?: string }>('notifications/read'),
    seen: call<{ updated: number; error?: string }>('notifications/seen'),
  }
}
