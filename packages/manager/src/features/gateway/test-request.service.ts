// Checks the input of a test call, and builds the request and the response that forwarding uses.
import { type OutgoingHttpHeaders, validateHeaderName, validateHeaderValue } from 'node:http'
import { Readable, Writable } from 'node:stream'
import { AppError, badRequest } from '../../platform/errors.ts'
import { checkOneOf } from '../../platform/inputs/inputs.ts'
import type { RelayResponse } from '../../platform/outbound/relay.ts'
import type { CallRequest } from './forwarding.service.ts'
import { selectUpstreamHeaders } from './passed-headers.pure.ts'

type Header = { readonly name: string; readonly value: string }
export type TestCallInput = {
  readonly machineUserId: string
  readonly method: string
  readonly query?: string | null | undefined
  readonly headers?: readonly Header[] | null | undefined
  readonly body?: string | null | undefined
}
/** A checked request. `rawHeaders` is a flat list of names and values. */
export type TestRequest = { method: string; query: string; rawHeaders: string[]; body: Buffer }

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const
// The characters of a request target, except # and characters that the parser of the gateway rejects.
const queryPattern = /^[!"$-~]{0,2000}$/
const maxHeaders = 50
const maxHeaderBytes = 16_384
const maxBodyBytes = 262_144

/** Returns the request of a test call. Throws 400 for a request that the gateway would reject or change. */
export function checkTestRequest(input: TestCallInput): TestRequest {
  const query = input.query ?? ''
  if (!queryPattern.test(query))
    throw badRequest('query must have at most 2000 visible ASCII characters, without #')
  const body = input.body ?? ''
  if (!body.isWellFormed()) throw badRequest('body must be well-formed Unicode')
  if (Buffer.byteLength(body) > maxBodyBytes)
    throw new AppError('payload_too_large', `body must have at most ${maxBodyBytes} bytes`)
  return {
    method: checkOneOf(input.method, 'method', methods),
    query,
    rawHeaders: checkHeaders(input.headers ?? []),
    body: Buffer.from(body),
  }
}

function checkHeaders(headers: readonly Header[]): string[] {
  const rawHeaders = headers.flatMap(({ name, value }) => [name, value])
  const length = rawHeaders.reduce((sum, text) => sum + text.length, 0)
  if (headers.length > maxHeaders || length > maxHeaderBytes)
    throw badRequest(`headers must have at most ${maxHeaders} entries and ${maxHeaderBytes} characters`)
  for (const [index, { name, value }] of headers.entries()) {
    checkHeaderText(() => validateHeaderName(name), `headers[${index}].name is not a valid header name`)
    // The message does not contain the value, which may be a secret.
    checkHeaderText(
      () => validateHeaderValue(name, value),
      `headers[${index}].value contains characters that are not allowed in a header value`,
    )
    if (selectUpstreamHeaders([name, value], noNames).length === 0)
      throw badRequest(`headers must not contain ${name}: the gateway does not forward it; remove it`)
  }
  return rawHeaders
}

const noNames: ReadonlySet<string> = new Set()

function checkHeaderText(validate: () => void, message: string): void {
  try {
    validate()
  } catch {
    throw badRequest(message)
  }
}

/** Returns a request whose body has arrived completely. */
export function createTestRequest({ method, rawHeaders, body }: TestRequest): CallRequest {
  const stream = new Readable({ read: () => undefined })
  if (body.length > 0) stream.push(body)
  stream.push(null)
  // Forwarding reads two headers here, both of which frame the body. A test call must not contain them.
  return Object.assign(stream, { complete: true, headers: {}, method, rawHeaders, url: '' })
}

/** Returns a response that is not sent. The recording of the call captures the first part of its body. */
export const createDiscardedResponse = (): RelayResponse => new DiscardedResponse()

class DiscardedResponse extends Writable {
  readonly chunkedEncoding = true
  readonly socket = null

  constructor() {
    super({ write: (_chunk, _encoding, done) => done() })
  }

  /** Throws for headers that could not be sent, as the response to a machine user does. */
  writeHead(_status: number, headers: OutgoingHttpHeaders): void {
    for (const [name, value] of Object.entries(headers)) {
      validateHeaderName(name)
      for (const one of [value].flat()) validateHeaderValue(name, String(one))
    }
  }
}
