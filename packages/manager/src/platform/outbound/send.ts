// One request with a small body and a small answer. The status decides: once the head of the answer is there the request
// was received, and what becomes of the body is of no importance. Redirects are answers like others. Before the head it
// matters whether anything was sent: if not, the same may be sent elsewhere.
import { type IncomingHttpHeaders, validateHeaderName, validateHeaderValue } from 'node:http'
import type { Dispatcher } from 'undici'
import { AppError, unavailable } from '../errors.ts'
import { type OriginPool, maxInterim } from './pools.ts'
import { reasonOf } from './reasons.ts'

export type SendRequest = {
  pool: OriginPool
  path: string
  method: 'DELETE' | 'GET' | 'PATCH' | 'POST' | 'PUT'
  /** Flat: name, value, name, value …; those of the connection and of the framing are not the caller's. */
  headers: string[]
  body: Buffer
  /** For everything: the connection, the request and the whole answer. */
  timeoutMs: number
  maxResponseBytes: number
  signal?: AbortSignal
}
export type SendAnswer = {
  status: number
  headers: IncomingHttpHeaders
  /** Its beginning, when it is cut. */
  body: Buffer
  /** Whether the body was longer than wanted, or did not come to its end in time. */
  isCut: boolean
}
/** Nothing was sent in `connect`; in `exchange` the other side may have received the request. */
export type SendPhase = 'connect' | 'exchange'

/** Why there is no answer; the reason holds no addresses or values. */
export class SendFailure extends Error {
  readonly reason: string
  readonly phase: SendPhase
  constructor(reason: string, phase: SendPhase, cause?: unknown) {
    super(reason, { cause })
    this.name = 'SendFailure'
    this.reason = reason
    this.phase = phase
  }

  /** Whether a limit of our own refused the call: it says nothing of the other side. */
  get isOwnLimit(): boolean {
    return this.cause instanceof AppError
  }
}

/** Resolves with the answer once it is complete or cut; rejects with SendFailure. */
export function send(request: SendRequest): Promise<SendAnswer> {
  return new Promise((resolve, reject) => new Exchange(request, { resolve, reject }).start())
}

type Outcome = { resolve: (answer: SendAnswer) => void; reject: (failure: SendFailure) => void }
type Head = { status: number; headers: IncomingHttpHeaders }

const ofTheConnection = new Set([
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
      if (ofTheConnection.has(name.toLowerCase())) return false
    }
    return true
  } catch {
    return false
  }
}

class Exchange implements Dispatcher.DispatchHandler {
  readonly #request: SendRequest
  readonly #outcome: Outcome
  #controller: Dispatcher.DispatchController | null = null
  #timeout: NodeJS.Timeout | undefined
  #isOver = false
  #isUpstreamDone = false
  #head: Head | null = null
  #interim = 0
  #received = 0
  #chunks: Buffer[] = []

  constructor(request: SendRequest, outcome: Outcome) {
    this.#request = request
    this.#outcome = outcome
  }

  start(): void {
    const { pool, path, method, headers, body, timeoutMs, signal } = this.#request
    if (signal?.aborted === true) return this.#end('the call was given up')
    if (pool.inFlight >= pool.maxInFlight) {
      const refusal = unavailable('too many calls to the upstream are in flight')
      return this.#end(refusal.message, refusal)
    }
    // A pool that is handed what it cannot send counts one connection less from then on.
    if (!isSendable(path, headers)) return this.#end('the request cannot be sent to the upstream')
    signal?.addEventListener('abort', this.#onAbort)
    this.#timeout = setTimeout(this.#onTimeout, timeoutMs)
    pool.inFlight++
    pool.pool.dispatch({ path, method, headers, body }, this)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Nothing is written before this returns, nor after an abort.
    if (this.#isOver) controller.abort(new Error('the call is over'))
    else this.#controller = controller
  }

  onResponseStart(_controller: unknown, status: number, headers: IncomingHttpHeaders): void {
    if (this.#isOver) return
    if (status >= 200) this.#head = { status, headers }
    else if (++this.#interim > maxInterim) this.#end('the upstream sends interim answers without end')
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    if (this.#isOver) return
    const room = this.#request.maxResponseBytes - this.#received
    this.#received += chunk.length
    this.#chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk)
    if (chunk.length > room) this.#end('the upstream answer is too large')
  }

  onResponseEnd(): void {
    this.#leavePool()
    if (this.#request.pool.isBreaking) this.#end('the upstream ended its response early')
    else this.#end(null)
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#leavePool()
    // The limit of connections says itself what it is.
    this.#end(error instanceof AppError ? error.message : reasonOf(error), error)
  }

  readonly #onAbort = (): void => this.#end('the call was given up')
  readonly #onTimeout = (): void =>
    this.#end(this.#controller === null ? 'the upstream cannot be reached' : 'the upstream took too long')

  /** With a reason when the answer did not come to its end. */
  #end(reason: string | null, cause?: unknown): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#timeout)
    this.#request.signal?.removeEventListener('abort', this.#onAbort)
    // A request that still waits for a connection is aborted when it gets one.
    if (!this.#isUpstreamDone) this.#controller?.abort(new Error('the call is over'))
    const body = Buffer.concat(this.#chunks)
    this.#chunks = []
    if (this.#head !== null) return this.#outcome.resolve({ ...this.#head, body, isCut: reason !== null })
    const phase = this.#controller === null ? 'connect' : 'exchange'
    this.#outcome.reject(new SendFailure(reason ?? 'the upstream ended its response early', phase, cause))
  }

  /** Called once undici is done with the request, also after a failed call: until then it holds its place. */
  #leavePool(): void {
    if (this.#isUpstreamDone) return
    this.#isUpstreamDone = true
    this.#request.pool.inFlight--
  }
}
