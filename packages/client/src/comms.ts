// Sends messages from backends to users: stored notifications, and live data that is not stored.
import type { Connection } from './connection.ts'
import type { EmitNotificationAnswer, EmitNotificationBody, PublishLiveDataBody } from './generated/rest.ts'
import { type CamelCase, type Simplify, toCamelCase, toSnakeCase } from './names.ts'
import { type CallOptions, send, sendForJson } from './request.ts'

/** The recipients and the content of a notification. docs/reference/machine-api.md lists every field. */
export type NewNotification = Simplify<CamelCase<Omit<EmitNotificationBody, 'dedupe_key'>>>
export type EmittedNotification = Simplify<CamelCase<EmitNotificationAnswer>>
export type LiveHint = Simplify<CamelCase<PublishLiveDataBody>>
export type EmitOptions = CallOptions & {
  /**
   * Within 24 hours, the same key returns the first notification instead of adding another. By default, a key
   * is generated.
   */
  idempotencyKey?: string
}

/**
 * Adds a notification to inboxes, only once even if the request is retried. Resolves when the notification is stored.
 */
export async function emit(
  connection: Connection,
  notification: NewNotification,
  { idempotencyKey = crypto.randomUUID(), signal }: EmitOptions = {},
): Promise<EmittedNotification> {
  const response = await sendForJson<EmitNotificationAnswer>(connection, {
    method: 'POST',
    path: '/api/machine/comms/emit',
    json: toSnakeCase(notification),
    headers: { 'idempotency-key': idempotencyKey },
    signal,
    isRepeatable: true,
  })
  return toCamelCase(response)
}

/** Sends data to the open pages of a tenant, at most once. The data is not stored. */
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
