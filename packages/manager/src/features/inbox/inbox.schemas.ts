import { Type } from 'typebox'
import {
  createErrorResponses,
  createPathIdSchema,
  createUuidSchema,
} from '../../platform/http/http.schemas.ts'

const tags = ['proxy' as const]
const params = Type.Object({ appID: createPathIdSchema('The application, set by the proxy') })
const time = (description: string) => Type.String({ format: 'date-time', description })
const nullable = <T extends ReturnType<typeof Type.String>>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description })

const item = Type.Object(
  {
    id: createUuidSchema('The `notification_id` that emit returned.'),
    type: nullable(Type.String(), 'Machine-readable type of the notification.'),
    title: nullable(Type.String(), 'One line, for display.'),
    body: nullable(Type.String(), 'Plain text of one or more lines, for display.'),
    severity: Type.Enum(['info', 'success', 'warning', 'error']),
    link: nullable(Type.String(), 'Target of the notification: a root-relative path or an https URL.'),
    data: Type.Unknown({ description: 'Data from the backend, unchanged; null if the backend sent none.' }),
    created_at: time('Creation time, from the database clock.'),
    read: Type.Boolean(),
    read_at: nullable(
      Type.String({ format: 'date-time' }),
      'Time at which the notification was first marked as read.',
    ),
    seen: Type.Boolean(),
    seen_at: nullable(
      Type.String({ format: 'date-time' }),
      'Time at which the notification was first marked as seen or read.',
    ),
    expires_at: nullable(
      Type.String({ format: 'date-time' }),
      'Expiry time, if it is earlier than the end of the retention period.',
    ),
  },
  { $id: 'Notification' },
)

export const inboxSchema = {
  operationId: 'listNotifications',
  summary: 'Returns the notifications of the caller in the tenant and application, newest first',
  description:
    'The inbox is empty if the caller no longer has access to the application in the tenant. With both `unread` and `type`, a page can contain fewer than `limit` items even if more pages follow.',
  tags,
  params,
  querystring: Type.Object({
    limit: Type.Optional(
      Type.String({
        pattern: '^(?:[1-9][0-9]?|100)$',
        title: 'a number from 1 to 100',
        description: 'Maximum number of items, 1 to 100; defaults to 20.',
      }),
    ),
    cursor: Type.Optional(
      Type.String({
        maxLength: 100,
        description: '`next_cursor` of the previous page; absent or empty for the first page.',
      }),
    ),
    unread: Type.Optional(
      Type.Enum(['true', 'false'], {
        title: 'true or false',
        description: 'Whether to return only unread notifications.',
      }),
    ),
    type: Type.Optional(
      Type.String({
        maxLength: 100,
        description: 'Return only notifications of exactly this type; if empty, notifications of all types.',
      }),
    ),
  }),
  response: {
    200: Type.Object({
      notifications: Type.Array(item),
      next_cursor: nullable(Type.String(), 'Cursor of the next page; null on the last page.'),
      has_more: Type.Boolean({ description: 'Whether another page can follow.' }),
    }),
    ...createErrorResponses('error'),
  },
}

export const unreadSchema = {
  operationId: 'hasUnreadNotifications',
  summary: 'Reports whether the caller has unread notifications in the tenant and application',
  tags,
  params,
  response: { 200: Type.Object({ unread: Type.Boolean() }), ...createErrorResponses('error') },
}

const ids = Type.Optional(
  Type.Array(createUuidSchema('A notification.'), {
    minItems: 1,
    maxItems: 500,
    title: 'a list of 1 to 500 UUIDs; send more in several requests',
    description: '1 to 500 ids. Unknown ids and ids of other users are ignored.',
  }),
)
const connection_id = Type.Optional(
  Type.Union([Type.String({ maxLength: 100 }), Type.Null()], {
    description:
      '`connection_id` of the WebSocket that the calling page opened. This WebSocket does not receive the change.',
  }),
)
const markSchemaParts = {
  tags,
  params,
  response: {
    200: Type.Object({
      updated: Type.Integer({ description: 'Number of newly marked notifications.' }),
    }),
    ...createErrorResponses('error', 413, 415),
  },
}

export const markReadSchema = {
  operationId: 'markNotificationsRead',
  summary: 'Marks notifications as read and as seen',
  description:
    'Send either `ids` or `all`. `all` marks the newest 100,000 notifications that are unread when the request arrives.',
  ...markSchemaParts,
  body: Type.Object({
    ids,
    all: Type.Optional(Type.Literal(true, { title: 'true, or absent', description: 'Replaces `ids`.' })),
    connection_id,
  }),
}

export const markSeenSchema = {
  operationId: 'markNotificationsSeen',
  summary: 'Marks notifications as seen',
  ...markSchemaParts,
  body: Type.Object({
    ids,
    all: Type.Optional(Type.Unknown({ description: 'Rejected. Send the ids of displayed notifications.' })),
    connection_id,
  }),
}
