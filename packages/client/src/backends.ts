// A backend that triggers call: it registers, sends heartbeats and verifies callbacks.
import {
  type Callback,
  type CallbackKeys,
  type IncomingCallback,
  bearerOf,
  verifyCallback,
} from './callbacks.ts'
import type { Connection } from './connection.ts'
import { CallbackError, ConnectionError, ResponseError } from './errors.ts'
import type { RegisteredBackend } from './generated/rest.ts'
import { pathOf } from './names.ts'
import { boundedNumber } from './options.ts'
import { type CallOptions, send, sendForJson } from './request.ts'
import { wait } from './waiting.ts'

export type BackendOptions = CallOptions & {
  applicationId: string
  /** The URL that the Manager calls. */
  callbackUrl: string
  /** The version of the backend. It is informational only. */
  version?: string
  heartbeatMs?: number
  /** Receives the error of a failed heartbeat. Heartbeats continue even if this function throws. */
  onError?: (error: unknown) => unknown
}
export type Registration = {
  /** The current id. It changes when the backend registers again after the Manager removed the registration. */
  readonly id: string
  /** Returns the callback if the Manager sent it. Otherwise throws a CallbackError; respond with its status. */
  verify: (incoming: IncomingCallback) => Promise<Callback>
  /** Stops the heartbeats and unregisters. Throws if that fails or takes longer than 10 s. */
  close: () => Promise<void>
}

type KnownKeys = CallbackKeys & { untilMs: number }

const defaultHeartbeatMs = 30_000
// Callbacks that were in flight when the keys were replaced have ended by then.
const previousKeysMs = 300_000
const closeMs = 10_000
const closeRetries = 2

/** Registers a backend and keeps it registered until `close` is called. An abort only stops the heartbeats. */
export async function registerBackend(
  connection: Connection,
  options: BackendOptions,
): Promise<Registration> {
  const { onError, signal } = options
  const heartbeatMs = boundedNumber('heartbeatMs', options.heartbeatMs ?? defaultHeartbeatMs)
  let id = ''
  let keys: KnownKeys[] = []
  let isReplaced = false
  const ending = new AbortController()
  const whileOpen = signal === undefined ? ending.signal : AbortSignal.any([signal, ending.signal])
  const register = async (): Promise<void> => {
    const registered = await postRegistration(connection, options, whileOpen)
    id = registered.registered_id
    const previous = keys.slice(0, 1).map((one) => ({ ...one, untilMs: Date.now() + previousKeysMs }))
    const { token, signing_secret: signingSecret } = registered
    keys = [{ token, signingSecret, untilMs: Infinity }, ...previous]
    isReplaced = false
  }
  // A failed heartbeat is not retried, because the next one follows.
  const heartbeatConnection = { ...connection, maxRetries: 0 }
  const beat = async (): Promise<void> => {
    if (isReplaced || !(await sendHeartbeat(heartbeatConnection, id, whileOpen))) await register()
  }
  const reportError = async (error: unknown): Promise<unknown> => onError?.(error)
  const keepAlive = async (): Promise<void> => {
    while (!whileOpen.aborted) {
      await wait(heartbeatMs, whileOpen)
      await beat().catch((error: unknown) => {
        // Heartbeats continue even if onError throws.
        if (!whileOpen.aborted) void reportError(error).catch(() => undefined)
      })
    }
  }
  await register()
  const ended = keepAlive().catch(() => undefined)
  return {
    get id() {
      return id
    },
    verify: (incoming) =>
      verifyCallback(validOf(keys), incoming).catch(async (error: unknown) => {
        // The signature is valid, but it was made with unknown keys. Another instance may have registered as the same
        // machine user. A heartbeat cannot detect that, because the registration is the same. Or an older Manager
        // signed with the token only. A forged call of this kind only causes one more registration with the next
        // heartbeat.
        await verifyCallback([bearerOf(incoming)], incoming).catch(() => {
          throw error
        })
        isReplaced = true
        throw new CallbackError('the callback is signed with unknown keys; registering again', {
          status: 503,
        })
      }),
    close: async () => {
      ending.abort()
      await withinClosing((until) => ended.then(() => unregister(connection, id, until)))
    },
  }
}

const postRegistration = (
  connection: Connection,
  { applicationId, callbackUrl, version }: BackendOptions,
  signal: AbortSignal,
): Promise<RegisteredBackend> =>
  sendForJson<RegisteredBackend>(connection, {
    method: 'POST',
    path: '/api/machine/register-backend',
    json: { application_id: applicationId, callback_url: callbackUrl, version },
    signal,
    // A second request updates the same registration.
    isRepeatable: true,
  })

/** Returns whether the registration still exists. */
const sendHeartbeat = (connection: Connection, id: string, signal: AbortSignal): Promise<boolean> =>
  trySend(connection, { method: 'PUT', path: `/api/machine/backend${pathOf([id])}/heartbeat`, signal })

/** Removes a registration. A missing registration is not an error. */
async function unregister(connection: Connection, id: string, signal: AbortSignal): Promise<void> {
  const timeoutMs = Math.min(connection.timeoutMs, closeMs / 2)
  const closing = { ...connection, timeoutMs, maxRetries: Math.min(connection.maxRetries, closeRetries) }
  await trySend(closing, { method: 'DELETE', path: `/api/machine/backend${pathOf([id])}`, signal })
}

/** Throws if the work takes longer than `closeMs`, whatever it waits for. */
async function withinClosing(work: (until: AbortSignal) => Promise<void>): Promise<void> {
  const over = new AbortController()
  const tooLate = async (): Promise<never> => {
    await wait(closeMs, over.signal)
    const why = `not unregistered within ${closeMs} ms; the registration expires without heartbeats`
    throw new ConnectionError(why, { cause: null })
  }
  try {
    await Promise.race([work(over.signal), tooLate()])
  } finally {
    over.abort()
  }
}

const validOf = (keys: readonly KnownKeys[]): CallbackKeys[] =>
  keys.filter(({ untilMs }) => Date.now() < untilMs)

/** Sends a request to a registration. Returns false if the registration does not exist. */
async function trySend(connection: Connection, request: Parameters<typeof send>[1]): Promise<boolean> {
  try {
    const response = await send(connection, request)
    await response.body?.cancel()
    return true
  } catch (error) {
    if (error instanceof ResponseError && error.status === 404) return false
    throw error
  }
}
