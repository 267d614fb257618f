// What backends send to people: notifications that are kept, and hints that are not.
import type { Connection } from './connection.ts'
import type { EmitNotificationAnswer, EmitNotificationBody, PublishLiveDataBody } from './generated/rest.ts'
import { type CamelCase, type Plain, toCamelCase, toSnakeCase } from './names.ts'
import { type CallOptions, send, sendForJson } from './request.ts'

/** Whom it is for and what it says; docs/reference/machine-api.md lists every field. */
export type NewNotification = Plain<CamelCase<Omit<EmitNotificationBody, 'dedupe_key'>>>
export type EmittedNotification = Plain<CamelCase<EmitNotificationAnswer>>
export type LiveHint = Plain<CamelCase<PublishLiveDataBody>>
export type EmitOptions = CallOptions & {
  /** For 24 hours a second notification by the same key is the first one; made here when it is absent. */
  idempotencyKey?: string
}

/** Puts a notification into inboxes, once however often it is sent; resolves when it is kept. */
export async function emit(
  connection: Connection,
  notification: NewNotification,
  { idempotencyKey = crypto.randomUUID(), signal }: EmitOptions = {},
): Promise<EmittedNotification> {
  const emitted = await sendForJson<EmitNotificationAnswer>(connection, {
    method: 'POST',
    path: '/api/machine/comms/emit',
    json: toSnakeCase(notification),
    headers: { 'idempotency-key': idempotencyKey },
    signal,
    isRepeatable: true,
  })
  return toCamelCase(emitted)
}

/** Tells the open pages of a tenant something, at most once: it is neither kept nor sent again. */
export async function publish(
  connection: Connection,
  hint: LiveHint,
  { signal }: CallOptions = {},
): Promise<void> {
  const response = await send(connection, {
    method: 'POST',
    path: '/api/machine/comms/publish',
    json: toSnakeCase(hint),
    signal,
  })
  await response.body?.cancel()
}
