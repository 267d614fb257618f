// Sends one request with a small body and reads a small response. Once the response head has arrived, the upstream has
// received the request, so a failure of the response body does not matter. Redirects are not followed. If the call
// fails before the head arrives and nothing has been sent, the caller may send the request elsewhere.
import { type IncomingHttpHeaders, validateHeaderName, validateHeaderValue } from 'node:http'
import type { Dispatcher } from 'undici'
import { AppError, unavailable } from '../errors.ts'
import { type OriginPool, maxInterimResponses } from './pools.ts'
import { describeFailure } from './reasons.ts'

/** A request and its limits. */
export type SendRequest = {
  pool: OriginPool
  path: string
  method: 'DELETE' | 'GET' | 'PATCH' | 'POST' | 'PUT'
  /** A flat list: name, value, name, value … Connection and framing headers are not allowed. */
  headers: string[]
  body: Buffer
  /** Covers the connection, the request and the whole response. */
  timeoutMs: number
  maxResponseBytes: number
  signal?: AbortSignal
}
/** The response, whose body may be truncated. */
export type SendResponse = {
  status: number
  headers: IncomingHttpHeaders
  /** If `isTruncated` is true, only the first part of the body. */
  body: Buffer
  /** Whether the body exceeded the limit or did not arrive completely. */
  isTruncated: boolean
}
/**
 * In the phase `connect`, nothing has been sent. In the phase `exchange`, the upstream may have received the request.
 */
export type SendPhase = 'connect' | 'exchange'

/** Thrown if there is no response. The reason contains no addresses or values. */
export class SendFailure extends Error {
  readonly reason: string
  readonly phase: SendPhase
  constructor(reason: string, phase: SendPhase, cause?: unknown) {
    super(reason, { cause })
    this.name = 'SendFailure'
    this.reason = reason
    this.phase = phase
  }

  /** Whether a limit of this process rejected the call, which says nothing about the upstream. */
  get isOwnLimit(): boolean {
    return this.cause instanceof AppError
  }
}

/** Resolves when the response is complete or truncated; rejects with SendFailure. */
export function send(request: SendRequest): Promise<SendResponse> {
  return new Promise((resolve, reject) => new Exchange(request, { resolve, reject }).start())
}

type PromiseCallbacks = { resolve: (response: SendResponse) => void; reject: (failure: SendFailure) => void }
type Head = { status: number; headers: IncomingHttpHeaders }

const connectionHeaders = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

function isSendable(path: string, headers: readonly string[]): boolean {
  if (!/^\/[\x21-\x7e]*$/.test(path) || headers.length % 2 !== 0) return false
  try {
    for (let at = 0; at < headers.length; at += 2) {
      const [name = '', value = ''] = headers.slice(at, at + 2)
      validateHeaderName(name)
      validateHeaderValue(name, value)
      if (connectionHeaders.has(name.toLowerCase())) return false
    }
    return true
  } catch {
    return false
  }
}

class Exchange implements Dispatcher.DispatchHandler {
  readonly #request: SendRequest
  readonly #callbacks: PromiseCallbacks
  #controller: Dispatcher.DispatchController | null = null
  #timeout: NodeJS.Timeout | undefined
  #isOver = false
  #isUpstreamDone = false
  #head: Head | null = null
  #interimCount = 0
  #receivedBytes = 0
  #chunks: Buffer[] = []

  constructor(request: SendRequest, callbacks: PromiseCallbacks) {
    this.#request = request
    this.#callbacks = callbacks
  }

  start(): void {
    const { pool, path, method, headers, body, timeoutMs, signal } = this.#request
    if (signal?.aborted === true) return this.#end('the call was aborted')
    if (pool.inFlight >= pool.maxInFlight) {
      const refusal = unavailable('too many calls to the upstream are in flight')
      return this.#end(refusal.message, refusal)
    }
    // An invalid request would permanently remove one connection from the undici pool.
    if (!isSendable(path, headers)) return this.#end('the request cannot be sent to the upstream')
    signal?.addEventListener('abort', this.#onAbort)
    this.#timeout = setTimeout(this.#onTimeout, timeoutMs)
    pool.inFlight++
    pool.pool.dispatch({ path, method, headers, body }, this)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // undici writes nothing before this method returns, and nothing after an abort.
    if (this.#isOver) controller.abort(new Error('the call has ended'))
    else this.#controller = controller
  }

  onResponseStart(_controller: unknown, status: number, headers: IncomingHttpHeaders): void {
    if (this.#isOver) return
    if (status >= 200) this.#head = { status, headers }
    else if (++this.#interimCount > maxInterimResponses)
      this.#end('the upstream sent too many interim responses')
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    if (this.#isOver) return
    const remainingBytes = this.#request.maxResponseBytes - this.#receivedBytes
    this.#receivedBytes += chunk.length
    this.#chunks.push(chunk.length > remainingBytes ? chunk.subarray(0, remainingBytes) : chunk)
    if (chunk.length > remainingBytes) this.#end('the upstream response is too large')
  }

  onResponseEnd(): void {
    this.#releaseSlot()
    if (this.#request.pool.isConnectionFailing) this.#end('the upstream response is incomplete or invalid')
    else this.#end(null)
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#releaseSlot()
    // The message of an AppError from the connection limit already describes the reason.
    this.#end(error instanceof AppError ? error.message : describeFailure(error), error)
  }

  readonly #onAbort = (): void => this.#end('the call was aborted')
  readonly #onTimeout = (): void =>
    this.#end(this.#controller === null ? 'the upstream cannot be reached' : 'the upstream timed out')

  /** `reason` is null if the response is complete. */
  #end(reason: string | null, cause?: unknown): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#timeout)
    this.#request.signal?.removeEventListener('abort', this.#onAbort)
    // A request that is still waiting for a connection is aborted as soon as it gets one.
    if (!this.#isUpstreamDone) this.#controller?.abort(new Error('the call has ended'))
    const body = Buffer.concat(this.#chunks)
    this.#chunks = []
    if (this.#head !== null)
      return this.#callbacks.resolve({ ...this.#head, body, isTruncated: reason !== null })
    const phase = this.#controller === null ? 'connect' : 'exchange'
    this.#callbacks.reject(
      new SendFailure(reason ?? 'the upstream response is incomplete or invalid', phase, cause),
    )
  }

  /**
   * Called when undici has finished the request, even if the call failed earlier. Until then, the call occupies its
   * slot.
   */
  #releaseSlot(): void {
    if (this.#isUpstreamDone) return
    this.#isUpstreamDone = true
    this.#request.pool.inFlight--
  }
}
