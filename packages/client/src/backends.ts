// Runs a backend that triggers call: registers it, sends heartbeats and verifies callbacks.
import {
  type Callback,
  type CallbackKeys,
  type IncomingCallback,
  getBearerToken,
  verifyCallback,
} from './callbacks.ts'
import type { Connection } from './connection.ts'
import { CallbackError, ConnectionError, ResponseError } from './errors.ts'
import type { RegisteredBackend } from './generated/rest.ts'
import { encodePath } from './names.ts'
import { checkNumber } from './options.ts'
import { type CallOptions, send, sendForJson } from './request.ts'
import { wait } from './waiting.ts'

export type BackendOptions = CallOptions & {
  applicationId: string
  /** The URL that the Manager calls. */
  callbackUrl: string
  /** The version of the backend, for information only. */
  version?: string
  heartbeatMs?: number
  /** Receives the error of a failed heartbeat. Heartbeats continue even if this function throws. */
  onError?: (error: unknown) => unknown
}
export type Registration = {
  /**
   * The current registration id. It changes when the backend registers again because the Manager removed the
   * registration.
   */
  readonly id: string
  /**
   * Returns the callback if the Manager sent it. Otherwise throws a CallbackError, whose status must be
   * returned.
   */
  verify: (incoming: IncomingCallback) => Promise<Callback>
  /** Stops the heartbeats and unregisters. Throws if unregistering fails or takes longer than 10 s. */
  close: () => Promise<void>
}

type KnownKeys = CallbackKeys & { untilMs: number }

const defaultHeartbeatMs = 30_000
// After this time, all callbacks that were in flight when the keys were replaced have ended.
const previousKeysMs = 300_000
const closeMs = 10_000
const closeRetries = 2

/** Registers a backend and keeps it registered until `close` is called. An abort only stops the heartbeats. */
export async function registerBackend(
  connection: Connection,
  options: BackendOptions,
): Promise<Registration> {
  const { onError, signal } = options
  const heartbeatMs = checkNumber('heartbeatMs', options.heartbeatMs ?? defaultHeartbeatMs)
  let id = ''
  let keys: KnownKeys[] = []
  let needsRegistration = false
  const closeController = new AbortController()
  const openSignal =
    signal === undefined ? closeController.signal : AbortSignal.any([signal, closeController.signal])
  const register = async (): Promise<void> => {
    const response = await postRegistration(connection, options, openSignal)
    id = response.registered_id
    const previousKeys = keys.slice(0, 1).map((key) => ({ ...key, untilMs: Date.now() + previousKeysMs }))
    const { token, signing_secret: signingSecret } = response
    keys = [{ token, signingSecret, untilMs: Infinity }, ...previousKeys]
    needsRegistration = false
  }
  // Do not retry a failed heartbeat, because the next heartbeat follows soon.
  const heartbeatConnection = { ...connection, maxRetries: 0 }
  const sendHeartbeatOrRegister = async (): Promise<void> => {
    if (needsRegistration || !(await sendHeartbeat(heartbeatConnection, id, openSignal))) await register()
  }
  const reportError = async (error: unknown): Promise<unknown> => onError?.(error)
  const keepAlive = async (): Promise<void> => {
    while (!openSignal.aborted) {
      await wait(heartbeatMs, openSignal)
      await sendHeartbeatOrRegister().catch((error: unknown) => {
        // Ignore an error in `onError`, so that heartbeats continue.
        if (!openSignal.aborted) void reportError(error).catch(() => undefined)
      })
    }
  }
  await register()
  const heartbeatLoop = keepAlive().catch(() => undefined)
  return {
    get id() {
      return id
    },
    verify: (incoming) =>
      verifyCallback(listValidKeys(keys), incoming).catch(async (error: unknown) => {
        // The signature is valid, but its keys are unknown. Either another instance registered as the same machine
        // user, or an older Manager signed with only the token. Heartbeats cannot detect another instance, because the
        // registration is the same. In both cases, register again. A forged call of this kind causes only one
        // additional registration, with the next heartbeat.
        await verifyCallback([getBearerToken(incoming)], incoming).catch(() => {
          throw error
        })
        needsRegistration = true
        throw new CallbackError('the callback is signed with unknown keys; registering again', {
          status: 503,
        })
      }),
    close: async () => {
      closeController.abort()
      await limitClosing((closeSignal) => heartbeatLoop.then(() => unregister(connection, id, closeSignal)))
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
    // The request can be repeated: a second request updates the same registration.
    isRepeatable: true,
  })

/** Sends a heartbeat. Returns whether the registration still exists. */
const sendHeartbeat = (connection: Connection, id: string, signal: AbortSignal): Promise<boolean> =>
  trySend(connection, { method: 'PUT', path: `/api/machine/backend${encodePath([id])}/heartbeat`, signal })

/** Removes a registration. A missing registration is not an error. */
async function unregister(connection: Connection, id: string, signal: AbortSignal): Promise<void> {
  const timeoutMs = Math.min(connection.timeoutMs, closeMs / 2)
  const closingConnection = {
    ...connection,
    timeoutMs,
    maxRetries: Math.min(connection.maxRetries, closeRetries),
  }
  await trySend(closingConnection, {
    method: 'DELETE',
    path: `/api/machine/backend${encodePath([id])}`,
    signal,
  })
}

/** Runs the work. Throws if it takes longer than `closeMs`. */
async function limitClosing(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const controller = new AbortController()
  const rejectLate = async (): Promise<never> => {
    await wait(closeMs, controller.signal)
    const reason = `the backend was not unregistered within ${closeMs} ms; the registration expires without heartbeats`
    throw new ConnectionError(reason, { cause: null })
  }
  try {
    await Promise.race([work(controller.signal), rejectLate()])
  } finally {
    controller.abort()
  }
}

const listValidKeys = (keys: readonly KnownKeys[]): CallbackKeys[] =>
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
