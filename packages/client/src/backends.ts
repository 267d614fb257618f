// A backend that triggers call: it is registered, sends heartbeats, and knows which calls are the Manager's.
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
  /** Where the Manager calls. */
  callbackUrl: string
  /** Of the backend, for people. */
  version?: string
  heartbeatMs?: number
  /** Told what made a heartbeat fail; the next one is sent all the same, even when this throws. */
  onError?: (error: unknown) => unknown
}
export type Registration = {
  /** The present one; it may change when the Manager has removed the former one. */
  readonly id: string
  /** The callback, when the Manager sent it; otherwise throws a CallbackError, whose status is the answer. */
  verify: (incoming: IncomingCallback) => Promise<Callback>
  /** Ends the heartbeats and unregisters, within ten seconds; throws when that did not succeed. */
  close: () => Promise<void>
}

type KnownKeys = CallbackKeys & { untilMs: number }

const defaultHeartbeatMs = 30_000
// A callback that was on its way when the keys were replaced is over by then.
const formerKeysMs = 300_000
const closeMs = 10_000
const closeRetries = 2

/** Registers a backend and keeps it registered until `close` is called, or the signal fires, which does not unregister. */
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
    const former = keys.slice(0, 1).map((one) => ({ ...one, untilMs: Date.now() + formerKeysMs }))
    const { token, signing_secret: signingSecret } = registered
    keys = [{ token, signingSecret, untilMs: Infinity }, ...former]
    isReplaced = false
  }
  // What fails is tried again with the next beat.
  const beating = { ...connection, maxRetries: 0 }
  const beat = async (): Promise<void> => {
    if (isReplaced || !(await sendHeartbeat(beating, id, whileOpen))) await register()
  }
  const tell = async (error: unknown): Promise<unknown> => onError?.(error)
  const keepAlive = async (): Promise<void> => {
    while (!whileOpen.aborted) {
      await wait(heartbeatMs, whileOpen)
      await beat().catch((error: unknown) => {
        // Whatever it does, the heartbeats go on.
        if (!whileOpen.aborted) void tell(error).catch(() => undefined)
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
        // In order, but not with keys of ours: another instance may have registered as the same machine user, which a
        // heartbeat does not tell, since the registration is the same one; or a Manager of an older release signed with the
        // token alone. Who forges such a call makes us register once more with the next beat, and nothing else.
        await verifyCallback([bearerOf(incoming)], incoming).catch(() => {
          throw error
        })
        isReplaced = true
        throw new CallbackError('the callback is signed with keys that are not known; registering again', {
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
    // A second one updates the same registration.
    isRepeatable: true,
  })

/** Whether the registration is still there. */
const sendHeartbeat = (connection: Connection, id: string, signal: AbortSignal): Promise<boolean> =>
  foundBy(connection, { method: 'PUT', path: `/api/machine/backend${pathOf([id])}/heartbeat`, signal })

/** Removes a registration; one that is gone already is as good. */
async function unregister(connection: Connection, id: string, signal: AbortSignal): Promise<void> {
  const timeoutMs = Math.min(connection.timeoutMs, closeMs / 2)
  const closing = { ...connection, timeoutMs, maxRetries: Math.min(connection.maxRetries, closeRetries) }
  await foundBy(closing, { method: 'DELETE', path: `/api/machine/backend${pathOf([id])}`, signal })
}

/** Does the work, or throws when its time is over, whatever it waits for. */
async function withinClosing(work: (until: AbortSignal) => Promise<void>): Promise<void> {
  const over = new AbortController()
  const tooLate = async (): Promise<never> => {
    await wait(closeMs, over.signal)
    const why = `not unregistered within ${closeMs} ms; the registration is removed when no heartbeats come`
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

async function foundBy(connection: Connection, request: Parameters<typeof send>[1]): Promise<boolean> {
  try {
    const response = await send(connection, request)
    await response.body?.cancel()
    return true
  } catch (error) {
    if (error instanceof ResponseError && error.status === 404) return false
    throw error
  }
}
