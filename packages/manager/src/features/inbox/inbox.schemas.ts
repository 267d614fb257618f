// What the routes of inboxes take and return.
import { Type } from 'typebox'
import { errorResponses, idInPath, uuid } from '../../platform/http/http.schemas.ts'

const tags = ['proxy' as const]
const params = Type.Object({ appID: idInPath('The application, written by the proxy') })
const time = (description: string) => Type.String({ format: 'date-time', description })
const nullable = <T extends ReturnType<typeof Type.String>>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description })

const item = Type.Object(
  {
    id: uuid('The `notification_id` that emit returned.'),
    type: nullable(Type.String(), 'What kind it is, for programs.'),
    title: nullable(Type.String(), 'One line for people.'),
    body: nullable(Type.String(), 'More lines for people; plain text.'),
    severity: Type.Enum(['info', 'success', 'warning', 'error']),
    link: nullable(Type.String(), 'Where it leads; root-relative or https.'),
    data: Type.Unknown({ description: 'As the backend sent it; null when there is none.' }),
    created_at: time('When it was made, by the clock of the database.'),
    read: Type.Boolean(),
    read_at: nullable(Type.String({ format: 'date-time' }), 'When it was marked read first.'),
    seen: Type.Boolean(),
    seen_at: nullable(Type.String({ format: 'date-time' }), 'When it was marked seen, or read, first.'),
    expires_at: nullable(Type.String({ format: 'date-time' }), 'When it goes, if earlier than the others.'),
  },
  { $id: 'Notification' },
)

export const inboxSchema = {
  operationId: 'listNotifications',
  summary: 'The notifications of the caller in the tenant and application, newest first',
  description:
    'Whoever no longer has the application in the tenant has an empty inbox. A page may hold fewer than `limit` although more follow, where `unread` and `type` are asked for together.',
  tags,
  params,
  querystring: Type.Object({
    limit: Type.Optional(
      Type.String({
        pattern: '^(?:[1-9][0-9]?|100)$',
        title: 'a number from 1 to 100',
        description: 'How many at most: 1 to 100, 20 by default.',
      }),
    ),
    cursor: Type.Optional(
      Type.String({
        maxLength: 100,
        description: '`next_cursor` of the page before; without it, or empty, the first page.',
      }),
    ),
    unread: Type.Optional(
      Type.Enum(['true', 'false'], { title: 'true or false', description: 'Only what is not read.' }),
    ),
    type: Type.Optional(
      Type.String({ maxLength: 100, description: 'Only those of exactly this type; empty: any.' }),
    ),
  }),
  response: {
    200: Type.Object({
      notifications: Type.Array(item),
      next_cursor: nullable(Type.String(), 'Where the next page begins; null when there is none.'),
      has_more: Type.Boolean({ description: 'Whether more may follow.' }),
    }),
    ...errorResponses('error'),
  },
}

export const unreadSchema = {
  operationId: 'hasUnreadNotifications',
  summary: 'Whether the caller has unread notifications in the tenant and application',
  tags,
  params,
  response: { 200: Type.Object({ unread: Type.Boolean() }), ...errorResponses('error') },
}

const ids = Type.Optional(
  Type.Array(uuid('A notification.'), {
    minItems: 1,
    maxItems: 500,
    title: 'a list of 1 to 500 UUIDs; send more in several requests',
    description:
      "1 to 500 ids. Those of others, and unknown ones, are not the caller's: they change nothing.",
  }),
)
const connection_id = Type.Optional(
  Type.Union([Type.String({ maxLength: 100 }), Type.Null()], {
    description: '`connection_id` of the socket that needs no hint, because it belongs to whoever asks.',
  }),
)
const ofMark = {
  tags,
  params,
  response: {
    200: Type.Object({
      updated: Type.Integer({ description: 'How many were not marked before.' }),
    }),
    ...errorResponses('error', 413, 415),
  },
}

export const markReadSchema = {
  operationId: 'markNotificationsRead',
  summary: 'Marks notifications as read, and as seen',
  description:
    'Either `ids`, or `all`: then everything that is unread as the request arrives, newest first, at most 100,000.',
  ...ofMark,
  body: Type.Object({
    ids,
    all: Type.Optional(Type.Literal(true, { title: 'true, or absent', description: 'Instead of `ids`.' })),
    connection_id,
  }),
}

export const markSeenSchema = {
  operationId: 'markNotificationsSeen',
  summary: 'Marks notifications as seen',
  ...ofMark,
  body: Type.Object({
    ids,
    all: Type.Optional(Type.Unknown({ description: 'Refused: whoever has seen something can name it.' })),
    connection_id,
  }),
}
