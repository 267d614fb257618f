// What backends send to notify people and to publish live data, and what they are answered.
import { type TSchema, Type } from 'typebox'
import { errorResponses, uuid } from '../../platform/http/http.schemas.ts'
import { limits } from './emit-input.pure.ts'

const tags = ['machines' as const]
const place = {
  application_id: uuid("An application of the project of the machine user's environment."),
  tenant_id: uuid('A tenant of that project.'),
}
const orNull = <T extends TSchema>(schema: T, description: string) =>
  Type.Optional(Type.Union([schema, Type.Null()], { description }))
const text = (maxLength: number) =>
  Type.String({ title: `a text of at most ${maxLength} characters`, maxLength })
const data = Type.Optional(
  Type.Unknown({
    description: `Any JSON of at most ${limits.dataBytes} bytes, nested at most ${limits.dataDepth} levels deep.`,
  }),
)
const keyTitle = `a text of 1 to ${limits.key} characters`

export const emitSchema = {
  operationId: 'emitNotification',
  summary: 'Puts a notification into the inboxes of users of a tenant',
  description:
    'Answered when it is committed. It is for the users that `recipients` names and for holders of `roles`; without both, for every member of the tenant who has the application. With a key (`Idempotency-Key` or `dedupe_key`) a request can be repeated: for 24 hours the same key gets the first answer again and adds nothing.',
  tags,
  headers: Type.Object({
    'idempotency-key': Type.Optional(
      Type.String({ title: keyTitle, description: 'A key of this notification, by which it is sent once.' }),
    ),
  }),
  body: Type.Object({
    ...place,
    recipients: Type.Optional(
      Type.Array(Type.String({ format: 'uuid' }), {
        title: `a list of 1 to ${limits.recipients} UUIDs of users`,
        minItems: 1,
        maxItems: limits.recipients,
        description: 'Users. Those who do not have the application in the tenant are left out.',
      }),
    ),
    roles: Type.Optional(
      Type.Array(Type.String(), {
        title: `a list of 1 to ${limits.roles} names of roles`,
        minItems: 1,
        maxItems: limits.roles,
        description: 'Names of roles of the tenant. Those without `apps.read` are left out.',
      }),
    ),
    type: orNull(
      text(limits.type),
      'A dotted name such as `order.shipped`, by which inboxes can be filtered.',
    ),
    title: orNull(text(limits.title), 'One line.'),
    body: orNull(text(limits.body), 'The text.'),
    severity: orNull(
      Type.Union(
        (['info', 'success', 'warning', 'error'] as const).map((word) => Type.Literal(word)),
        { title: 'info, success, warning or error' },
      ),
      '`info` by default.',
    ),
    link: orNull(text(limits.link), 'Where to look: a path that starts with a single `/`, or an https URL.'),
    data,
    expires_at: orNull(
      Type.String({ title: 'an RFC 3339 time' }),
      'When the notification goes, if that is before the retention of all; in the future.',
    ),
    dedupe_key: orNull(Type.String({ title: keyTitle }), 'The same as `Idempotency-Key`.'),
  }),
  response: {
    202: Type.Object({
      notification_id: uuid('The notification, as inboxes name it.'),
      request_id: Type.String({ description: 'The request that it came with.' }),
      recipient_count: Type.Integer({ description: 'How many users have it in their inbox.' }),
    }),
    ...errorResponses('error', 403, 422, 429),
  },
}

export const publishSchema = {
  operationId: 'publishLiveData',
  summary: 'Sends live data to everyone who has the application open in a tenant',
  description:
    'At most once, and to whoever is connected at the moment: nothing is stored. It is answered the same when nobody is.',
  tags,
  body: Type.Object({ ...place, topic: orNull(text(limits.topic), 'What it is about.'), data }),
  response: {
    202: Type.Object({ published: Type.Literal(true) }),
    ...errorResponses('error', 403, 429),
  },
}
