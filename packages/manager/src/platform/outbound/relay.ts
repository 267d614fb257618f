// Passes an upstream's response on to the caller as it comes, except for its end: the last bytes wait until the caller
// of this function has committed what it must. A failure before the first byte is thrown to it; afterwards the
// connection is cut, so that an incomplete response never looks whole. A small response goes out in one write.
import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import { AppError } from '../errors.ts'
import { BodyAborted, type PassedBody } from './request-body.ts'
import { sentTooSlowly } from './body-pace.ts'
import { type OriginPool, maxInterim } from './pools.ts'
import { reasonOf } from './reasons.ts'

export type RelayRequest = {
  pool: OriginPool
  path: string
  method: string
  /** Flat: name, value, name, value … */
  headers: string[]
  body: Buffer | PassedBody | null
  maxResponseBytes: number
  deadlineMs: number
}
export type RelayCaller = {
  response: ServerResponse
  /** The headers the caller gets for these of the upstream. */
  headersFor: (headers: IncomingHttpHeaders) => OutgoingHttpHeaders
  /** Called once, when the response begins. */
  onHead: () => void
  /** Sees every byte of the body as it passes. */
  onData: ((chunk: Buffer) => void) | null
  /** What must be done before the last byte is sent; a rejection withholds it. */
  commit: (status: number) => Promise<void>
}

/** Why an exchange failed. */
export class RelayFailure extends Error {}
/** The caller did not read the response to its end. */
export class CallerDisconnected extends Error {}

/**
 * Resolves when the whole response is handed to the caller's connection; rejects with RelayFailure, CallerDisconnected,
 * or what `commit` or the body fails with.
 */
export function relay(request: RelayRequest, caller: RelayCaller): Promise<void> {
  return new Promise((resolve, reject) => {
    const exchange = new Exchange(request, caller, (error) => (error === null ? resolve() : reject(error)))
    exchange.start()
  })
}

class Exchange implements Dispatcher.DispatchHandler {
  readonly #request: RelayRequest
  readonly #caller: RelayCaller
  readonly #done: (error: Error | null) => void
  #controller: Dispatcher.DispatchController | null = null
  #deadline: NodeJS.Timeout | undefined
  #isOver = false
  #isHeadSent = false
  #isUpstreamDone = false
  #status = 0
  #interim = 0
  #headers: OutgoingHttpHeaders = {}
  /** Bytes the upstream has announced; null when it has not. */
  #announced: number | null = null
  #received = 0
  #held: Buffer[] = []

  constructor(request: RelayRequest, caller: RelayCaller, done: (error: Error | null) => void) {
    this.#request = request
    this.#caller = caller
    this.#done = done
  }

  start(): void {
    const { pool, path, method, headers, body, deadlineMs } = this.#request
    const { response } = this.#caller
    if (response.destroyed) return this.#onClose()
    response.once('close', this.#onClose)
    this.#deadline = setTimeout(() => this.#onDeadline(), deadlineMs)
    pool.inFlight++
    try {
      pool.pool.dispatch({ path, method, headers, body: body as Readable | null }, this)
    } catch (error) {
      this.#leavePool()
      this.#fail('the request cannot be sent to the upstream', error)
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#isOver) controller.abort(new Error('the call is over'))
  }

  onResponseStart(_controller: unknown, status: number, headers: IncomingHttpHeaders): void {
    if (this.#isOver) return
    // Interim responses are between the upstream and us.
    if (status < 200) {
      if (++this.#interim > maxInterim) this.#fail('the upstream sends interim answers without end')
      return
    }
    const { 'content-length': length, 'transfer-encoding': encoding = 'chunked' } = headers
    if (encoding.toLowerCase() !== 'chunked')
      return this.#fail('the upstream answer is encoded in an unknown way')
    const hasBody = this.#request.method !== 'HEAD' && status !== 204 && status !== 304
    if (hasBody && length !== undefined) {
      this.#announced = Number(length)
      if (this.#announced > this.#request.maxResponseBytes)
        return this.#fail('the upstream answer is too large')
    }
    this.#status = status
    this.#headers = this.#caller.headersFor(headers)
    if (status === 204) delete this.#headers['content-length']
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver) return
    this.#received += chunk.length
    if (this.#received > this.#request.maxResponseBytes) return this.#fail('the upstream answer is too large')
    this.#caller.onData?.(chunk)
    this.#held.push(chunk)
    if (this.#announced === null) {
      // The last bytes are not known in advance; the end of the message itself is held back instead. What arrives whole
      // in this turn still goes out in one write.
      if (this.#held.length === 1) setImmediate(() => this.#pass())
    } else if (this.#received < this.#announced) this.#pass()
  }

  onResponseEnd(): void {
    this.#leavePool()
    if (this.#isOver) return
    if (this.#request.pool.isBreaking) return this.#fail('the upstream ended its response early')
    clearTimeout(this.#deadline)
    this.#caller.commit(this.#status).then(
      () => this.#finish(),
      (error: unknown) => this.#end(error as Error),
    )
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#leavePool()
    // What the body being sent ended with is for our caller to judge.
    if (error instanceof AppError || error instanceof BodyAborted) this.#end(error)
    else this.#fail(reasonOf(error), error)
  }

  /** Sends what is held; the last bytes stay held until this is called. */
  #pass(): void {
    if (this.#isOver || this.#isUpstreamDone || this.#held.length === 0) return
    const { response } = this.#caller
    if (!this.#isHeadSent && !this.#sendHead()) return
    let isFull = false
    for (const chunk of this.#held) isFull = !response.write(chunk)
    this.#held = []
    if (!isFull) return
    this.#controller?.pause()
    response.once('drain', () => this.#controller?.resume())
  }

  #finish(): void {
    if (this.#isOver) return
    const { response } = this.#caller
    const rest = this.#held.length > 1 ? Buffer.concat(this.#held) : this.#held[0]
    const isWhole = !this.#isHeadSent && this.#announced === null && rest !== undefined
    if (isWhole) this.#headers['content-length'] = rest.length
    if (!this.#isHeadSent && !this.#sendHead()) return
    this.#isOver = true
    response.removeListener('close', this.#onClose)
    response.end(rest)
    this.#done(null)
  }

  /** False when the exchange has failed over it. */
  #sendHead(): boolean {
    try {
      this.#caller.response.writeHead(this.#status, this.#headers)
    } catch (error) {
      this.#fail('the upstream answer has headers that cannot be passed on', error)
      return false
    }
    this.#isHeadSent = true
    this.#caller.onHead()
    return true
  }

  readonly #onClose = (): void => this.#end(new CallerDisconnected('the caller closed the connection'))

  #onDeadline(): void {
    if (this.#caller.response.writableNeedDrain)
      this.#end(new CallerDisconnected('the caller read the response too slowly'))
    else if (this.#isBodyAwaited()) this.#end(sentTooSlowly())
    else this.#fail('the upstream took too long')
  }

  #isBodyAwaited(): boolean {
    const { body } = this.#request
    return body !== null && !Buffer.isBuffer(body) && body.isAwaited()
  }

  #fail(message: string, cause?: unknown): void {
    this.#end(new RelayFailure(message, { cause }))
  }

  #end(error: Error): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#deadline)
    this.#caller.response.removeListener('close', this.#onClose)
    // A request that still waits for a connection is aborted when it gets one.
    if (!this.#isUpstreamDone) this.#controller?.abort(error)
    this.#held = []
    if (this.#isHeadSent) this.#cut()
    this.#done(error)
  }

  /** A response to HTTP/1.0 without a length ends where its connection does: only a reset shows that it is cut. */
  #cut(): void {
    const { response } = this.#caller
    if (this.#announced === null && !response.chunkedEncoding) response.socket?.resetAndDestroy()
    response.destroy()
  }

  /** Called once undici is done with the request, also after a failed call: until then it holds its place. */
  #leavePool(): void {
    if (this.#isUpstreamDone) return
    this.#isUpstreamDone = true
    this.#request.pool.inFlight--
  }
}
