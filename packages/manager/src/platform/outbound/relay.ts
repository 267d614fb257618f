// Streams the response of an upstream to the client, but delays its last bytes until `commit` resolves. A failure
// before the first byte is thrown. A failure after the first byte closes the connection, so that an incomplete
// response never looks complete. A small response is sent in one write.
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import { AppError } from '../errors.ts'
import { BodyAbortedError, type StreamedBody } from './request-body.ts'
import { createBodyTooSlowError } from './body-rate.ts'
import { type OriginPool, maxInterimResponses } from './pools.ts'
import { describeFailure } from './reasons.ts'

/** The request to the upstream and its limits. */
export type RelayRequest = {
  pool: OriginPool
  path: string
  method: string
  /** A flat list: name, value, name, value … */
  headers: string[]
  body: Buffer | StreamedBody | null
  maxResponseBytes: number
  deadlineMs: number
}
/** The part of a ServerResponse that relaying uses. */
export type RelayResponse = {
  readonly chunkedEncoding: boolean
  readonly destroyed: boolean
  readonly socket: { resetAndDestroy(): unknown } | null
  readonly writableNeedDrain: boolean
  writeHead(status: number, headers: OutgoingHttpHeaders): unknown
  write(chunk: Buffer): boolean
  end(chunk?: Buffer): unknown
  destroy(): unknown
  once(event: 'close' | 'drain', listener: () => void): unknown
  removeListener(event: 'close', listener: () => void): unknown
}
/** The client that receives the response, and hooks into the relay. */
export type RelayCaller = {
  response: RelayResponse
  /** Maps the headers of the upstream to those of the response. */
  createHeaders: (headers: IncomingHttpHeaders) => OutgoingHttpHeaders
  /** Called once, when the response head is sent. */
  onHead: () => void
  /** Receives every chunk of the body. */
  onData: ((chunk: Buffer) => void) | null
  /** Runs before the last bytes are sent; if it rejects, they are not sent. */
  commit: (status: number) => Promise<void>
}

/** The upstream failed, or its response cannot be relayed. */
export class RelayFailure extends Error {}
/** The client disconnected or did not read the whole response in time. */
export class CallerDisconnectedError extends Error {}

/**
 * Resolves when the whole response has been written to the connection of the client. Rejects with RelayFailure,
 * CallerDisconnectedError, or an error of `commit` or of the request body.
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
  readonly #onDone: (error: Error | null) => void
  #controller: Dispatcher.DispatchController | null = null
  #deadline: NodeJS.Timeout | undefined
  #isOver = false
  #isHeadSent = false
  #isUpstreamDone = false
  #status = 0
  #interimCount = 0
  #headers: OutgoingHttpHeaders = {}
  /** The content length, or null if the upstream did not announce it. */
  #announcedLength: number | null = null
  #receivedBytes = 0
  #heldChunks: Buffer[] = []

  constructor(request: RelayRequest, caller: RelayCaller, onDone: (error: Error | null) => void) {
    this.#request = request
    this.#caller = caller
    this.#onDone = onDone
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
      this.#releaseSlot()
      this.#fail('the request cannot be sent to the upstream', error)
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#isOver) controller.abort(new Error('the call has ended'))
  }

  onResponseStart(_controller: unknown, status: number, headers: IncomingHttpHeaders): void {
    if (this.#isOver) return
    // Interim responses are not relayed.
    if (status < 200) {
      if (++this.#interimCount > maxInterimResponses)
        this.#fail('the upstream sent too many interim responses')
      return
    }
    const { 'content-length': length, 'transfer-encoding': encoding = 'chunked' } = headers
    if (encoding.toLowerCase() !== 'chunked')
      return this.#fail('the upstream response has an unsupported transfer encoding')
    const hasBody = this.#request.method !== 'HEAD' && status !== 204 && status !== 304
    if (hasBody && length !== undefined) {
      this.#announcedLength = Number(length)
      if (this.#announcedLength > this.#request.maxResponseBytes)
        return this.#fail('the upstream response is too large')
    }
    this.#status = status
    this.#headers = this.#caller.createHeaders(headers)
    if (status === 204) delete this.#headers['content-length']
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver) return
    this.#receivedBytes += chunk.length
    if (this.#receivedBytes > this.#request.maxResponseBytes)
      return this.#fail('the upstream response is too large')
    this.#caller.onData?.(chunk)
    this.#heldChunks.push(chunk)
    if (this.#announcedLength === null) {
      // Without a length, the relay cannot recognize the last bytes, so it delays the end of the message instead. A
      // response that arrives completely in this turn of the event loop is still sent in one write.
      if (this.#heldChunks.length === 1) setImmediate(() => this.#flush())
    } else if (this.#receivedBytes < this.#announcedLength) this.#flush()
  }

  onResponseEnd(): void {
    this.#releaseSlot()
    if (this.#isOver) return
    if (this.#request.pool.isConnectionFailing)
      return this.#fail('the upstream response is incomplete or invalid')
    clearTimeout(this.#deadline)
    this.#caller.commit(this.#status).then(
      () => this.#finish(),
      (error: unknown) => this.#end(error as Error),
    )
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#releaseSlot()
    // The caller of `relay` handles errors of the request body.
    if (error instanceof AppError || error instanceof BodyAbortedError) this.#end(error)
    else this.#fail(describeFailure(error), error)
  }

  /** Sends the delayed chunks; `#finish` sends the last ones. */
  #flush(): void {
    if (this.#isOver || this.#isUpstreamDone || this.#heldChunks.length === 0) return
    const { response } = this.#caller
    if (!this.#isHeadSent && !this.#sendHead()) return
    let isFull = false
    for (const chunk of this.#heldChunks) isFull = !response.write(chunk)
    this.#heldChunks = []
    if (!isFull) return
    this.#controller?.pause()
    response.once('drain', () => this.#controller?.resume())
  }

  #finish(): void {
    if (this.#isOver) return
    const { response } = this.#caller
    const lastBytes = this.#heldChunks.length > 1 ? Buffer.concat(this.#heldChunks) : this.#heldChunks[0]
    const isWholeBody = !this.#isHeadSent && this.#announcedLength === null && lastBytes !== undefined
    if (isWholeBody) this.#headers['content-length'] = lastBytes.length
    if (!this.#isHeadSent && !this.#sendHead()) return
    this.#isOver = true
    response.removeListener('close', this.#onClose)
    response.end(lastBytes)
    this.#onDone(null)
  }

  /** Returns false if the headers are invalid, which fails the exchange. */
  #sendHead(): boolean {
    try {
      this.#caller.response.writeHead(this.#status, this.#headers)
    } catch (error) {
      this.#fail('the upstream response has invalid headers', error)
      return false
    }
    this.#isHeadSent = true
    this.#caller.onHead()
    return true
  }

  readonly #onClose = (): void => this.#end(new CallerDisconnectedError('the caller closed the connection'))

  #onDeadline(): void {
    if (this.#caller.response.writableNeedDrain)
      this.#end(new CallerDisconnectedError('the caller read the response too slowly'))
    else if (this.#isBodyAwaited()) this.#end(createBodyTooSlowError())
    else this.#fail('the upstream timed out')
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
    // A request that is still waiting for a connection is aborted as soon as it gets one.
    if (!this.#isUpstreamDone) this.#controller?.abort(error)
    this.#heldChunks = []
    if (this.#isHeadSent) this.#abortConnection()
    this.#onDone(error)
  }

  /**
   * An HTTP/1.0 response without a length ends when the connection closes, so only a reset tells the caller that it is
   * incomplete.
   */
  #abortConnection(): void {
    const { response } = this.#caller
    if (this.#announcedLength === null && !response.chunkedEncoding) response.socket?.resetAndDestroy()
    response.destroy()
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
