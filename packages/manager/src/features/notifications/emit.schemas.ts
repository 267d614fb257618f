// These schemas describe the requests and responses of the emit and publish routes.
import { type TSchema, Type } from 'typebox'
import { createErrorResponses, createUuidSchema } from '../../platform/http/http.schemas.ts'
import { limits } from './emit-input.pure.ts'

const tags = ['machines' as const]
const targetFields = {
  application_id: createUuidSchema("An application in the project of the machine user's environment."),
  tenant_id: createUuidSchema('A tenant in the same project.'),
}
const orNull = <T extends TSchema>(schema: T, description: string) =>
  Type.Optional(Type.Union([schema, Type.Null()], { description }))
const textField = (maxLength: number) =>
  Type.String({ title: `a string of at most ${maxLength} characters`, maxLength })
const data = Type.Optional(
  Type.Unknown({
    description: `Any JSON of at most ${limits.dataBytes} bytes, nested at most ${limits.dataDepth} levels deep.`,
  }),
)
const keyTitle = `a string of 1 to ${limits.key} characters`

export const emitSchema = {
  operationId: 'emitNotification',
  summary: 'Adds a notification to the inboxes of tenant users',
  description:
    'The route responds after the commit. The recipients are the users in `recipients` and the users who have one of the `roles`. If both fields are absent, the recipients are all tenant members who have the application. With a key (`Idempotency-Key` or `dedupe_key`), you can repeat a request. For 24 hours, the same key returns the first response again and adds nothing.',
  tags,
  headers: Type.Object({
    'idempotency-key': Type.Optional(
      Type.String({ title: keyTitle, description: 'Key that prevents duplicates of this notification.' }),
    ),
  }),
  body: Type.Object({
    ...targetFields,
    recipients: Type.Optional(
      Type.Array(Type.String({ format: 'uuid' }), {
        title: `a list of 1 to ${limits.recipients} user UUIDs`,
        minItems: 1,
        maxItems: limits.recipients,
        description: 'User ids. Users who do not have the application in the tenant are skipped.',
      }),
    ),
    roles: Type.Optional(
      Type.Array(Type.String(), {
        title: `a list of 1 to ${limits.roles} role names`,
        minItems: 1,
        maxItems: limits.roles,
        description: 'Names of tenant roles. Roles without `apps.read` are skipped.',
      }),
    ),
    type: orNull(textField(limits.type), 'Dotted name such as `order.shipped`; inboxes can filter by it.'),
    title: orNull(textField(limits.title), 'One-line title.'),
    body: orNull(textField(limits.body), 'Text of the notification.'),
    severity: orNull(
      Type.Union(
        (['info', 'success', 'warning', 'error'] as const).map((word) => Type.Literal(word)),
        { title: 'info, success, warning or error' },
      ),
      'Defaults to `info`.',
    ),
    link: orNull(textField(limits.link), 'Target: a path that starts with a single `/`, or an https URL.'),
    data,
    expires_at: orNull(
      Type.String({ title: 'an RFC 3339 time' }),
      'Expiry time. Must be in the future. Ignored if it is after the end of the retention period.',
    ),
    dedupe_key: orNull(Type.String({ title: keyTitle }), 'The same as `Idempotency-Key`.'),
  }),
  response: {
    202: Type.Object({
      notification_id: createUuidSchema('Id of the notification, also used in inboxes.'),
      request_id: Type.String({ description: 'Id of the request that created the notification.' }),
      recipient_count: Type.Integer({
        description: 'Number of users who have the notification in their inbox.',
      }),
    }),
    ...createErrorResponses('error', 403, 422, 429),
  },
}

export const publishSchema = {
  operationId: 'publishLiveData',
  summary: 'Sends live data to every user who has the application open in a tenant',
  description:
    'The Manager delivers the data at most once to connected users and stores nothing. The response is the same if no user is connected.',
  tags,
  body: Type.Object({ ...targetFields, topic: orNull(textField(limits.topic), 'Topic of the data.'), data }),
  response: {
    202: Type.Object({ published: Type.Literal(true) }),
    ...createErrorResponses('error', 403, 429),
  },
}
