// Reads the responses to `svc api`.
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Connection, ConnectionError, GraphqlError, ResponseError, send } from '@manager/client'
import { readBoundedText } from '../bounded-text.ts'
import { Failure } from '../failures.ts'
import { escapeLines } from '../printable.ts'
import type { Terminal } from '../terminal.ts'
import type { ApiRequest } from './request.ts'

/** The JSON body of a response, or the body of any other type. `error` is the error that the Manager returned. */
export type ApiResponse = {
  status: number
  headers: Headers
  json: unknown
  stream: Readable | null
  error: Error | null
}

const maxJsonMegabytes = 64

/** Sends the request. An error response with a JSON body is returned, because its body is printed. */
export async function sendRequest(
  connection: Connection,
  request: ApiRequest,
  signal: AbortSignal,
): Promise<ApiResponse> {
  try {
    const response = await send(connection, { ...request, signal })
    const { status, headers } = response
    if (response.body === null) return { status, headers, json: undefined, stream: null, error: null }
    const stream = Readable.from(response.body as AsyncIterable<Uint8Array>)
    if (!/json/.test(headers.get('content-type') ?? '') || /ndjson/.test(headers.get('content-type') ?? ''))
      return { status, headers, json: undefined, stream, error: null }
    const json = parseJson(await readBody(stream, signal))
    return { status, headers, json, stream: null, error: findGraphqlError(json) }
  } catch (error) {
    if (error instanceof TypeError) throw new Failure('usage', `Invalid request: ${error.message}`)
    if (!(error instanceof ResponseError) || error.body === null) throw error
    const graphqlError = request.graphql === null ? null : findGraphqlError(error.body)
    return {
      status: error.status,
      headers: new Headers(),
      json: error.body,
      stream: null,
      error: graphqlError ?? error,
    }
  }
}

async function readBody(stream: Readable, signal: AbortSignal): Promise<string> {
  try {
    return await readBoundedText(stream, 'The response', maxJsonMegabytes)
  } catch (error) {
    if (error instanceof Failure || signal.aborted) throw error
    throw new ConnectionError('the response is incomplete', { cause: error })
  }
}

function parseJson(text: string): unknown {
  // A HEAD request has no body.
  if (text === '') return undefined
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw new Failure('failed', 'The response is not valid JSON. Check the address (--url, SVC_URL).')
  }
}

function findGraphqlError(json: unknown): GraphqlError | null {
  if (typeof json !== 'object' || json === null || !('errors' in json)) return null
  return Array.isArray(json.errors) && json.errors.length > 0
    ? new GraphqlError(json.errors as ConstructorParameters<typeof GraphqlError>[0])
    : null
}

/** Writes a body unchanged. On a terminal, control characters are escaped. */
export async function writeStream({ stdout, signal }: Terminal, stream: Readable): Promise<void> {
  const stages = stdout.isTTY === true ? [stream, createTerminalFilter(), stdout] : [stream, stdout]
  try {
    await pipeline(stages, { signal, end: false })
  } catch (error) {
    if (signal.aborted || (error as NodeJS.ErrnoException).syscall !== undefined) throw error
    throw new ConnectionError('the response is incomplete', { cause: error })
  }
}

function createTerminalFilter(): Transform {
  const decoder = new TextDecoder()
  return new Transform({
    transform: (chunk: Buffer, _encoding, done) =>
      done(null, escapeLines(decoder.decode(chunk, { stream: true }))),
    flush: (done) => done(null, escapeLines(decoder.decode())),
  })
}
