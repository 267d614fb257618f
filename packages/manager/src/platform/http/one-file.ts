// Reads a form with one file as it arrives (multipart/form-data). The size of all other parts is limited.
// Other bodies are rejected, and no part of a rejected body stays in memory.
import multipart from '@fastify/multipart'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError, badRequest } from '../errors.ts'

/** The media type and the file name that the form declares. */
export type FormFile = { declaredType: string; fileName: string }
/** The expected field, the size limit, and the function that consumes the pieces. */
export type OneFileOptions = {
  /** Name of the form field with the file. */
  field: string
  /** Maximum size of the file; `take` may reject earlier. */
  maxBytes: number
  take: (piece: Uint8Array) => Promise<void>
}

// The allowance covers boundaries, headers and unknown fields.
const maxBytesBesidesFile = 65_536
const limits = {
  files: 1,
  fields: 4,
  parts: 6,
  fieldNameSize: 100,
  fieldSize: 1_024,
  headerPairs: 20,
  headerSize: 8_192,
}

/** Makes the routes of this instance accept multipart forms, and no other body. */
export function acceptOnlyForms(server: FastifyInstance): void {
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', (_request, _body, done) => done(createNotMultipartError()))
  void server.register(multipart, { throwFileSizeLimit: false })
}

/** Returns the Content-Length of the body; null if the client does not send one. */
const readContentLength = ({ headers }: FastifyRequest): number | null =>
  headers['content-length'] === undefined ? null : Number(headers['content-length'])

/** Returns the maximum size of a body with a file of `maxBytes`. */
export const getMaxFormBytes = (maxBytes: number): number => maxBytes + maxBytesBesidesFile

/**
 * Passes the pieces of the file to `take`, and returns its declared type and name when the form has ended.
 * Throws 400, 413 or 415, or the error that `take` throws.
 */
export async function readOneFile(request: FastifyRequest, options: OneFileOptions): Promise<FormFile> {
  if (!request.isMultipart()) throw createNotMultipartError()
  if ((request.headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity')
    throw createEncodedBodyError()
  const maxBodyBytes = getMaxFormBytes(options.maxBytes)
  const length = readContentLength(request)
  if (length !== null && length > maxBodyBytes) throw createBodyTooLargeError(maxBodyBytes)
  const body = request.raw
  const { promise: bodyTooLarge, reject } = Promise.withResolvers<never>()
  // Prevents an unhandled rejection: once the form has been read, no code awaits this promise.
  bodyTooLarge.catch(() => undefined)
  let receivedBytes = 0
  body.on('data', (piece: Buffer) => {
    receivedBytes += piece.length
    if (receivedBytes > maxBodyBytes) reject(createBodyTooLargeError(maxBodyBytes))
    // After a rejection, the rest of the body is read and dropped up to this limit, so that the client sees the
    // response.
    if (receivedBytes > 2 * maxBodyBytes) body.destroy()
  })
  try {
    return await Promise.race([readForm(request, options), bodyTooLarge])
  } finally {
    body.unpipe()
    body.resume()
  }
}

async function readForm(
  request: FastifyRequest,
  { field, maxBytes, take }: OneFileOptions,
): Promise<FormFile> {
  let formFile: FormFile | null = null
  try {
    const parts = request.parts({
      limits: { ...limits, fileSize: maxBytes + 1 },
      // Clients may omit the file name.
      isPartAFile: (name, _type, fileName) => name === field || fileName !== undefined,
    })
    for await (const part of parts) {
      if (part.type === 'field') {
        if (part.valueTruncated) throw createFieldTooLargeError()
        continue
      }
      if (part.fieldname !== field) throw badRequest(`send the file in the field ${field}, and no other file`)
      for await (const piece of part.file) await take(piece as Buffer)
      formFile = { declaredType: part.mimetype, fileName: part.filename ?? '' }
    }
  } catch (error) {
    throw toAppError(error, field)
  }
  if (formFile === null) throw badRequest(`the form has no file; send the file in the field ${field}`)
  return formFile
}

/** Converts errors of the parser, which have no message for callers and usually no code. */
function toAppError(error: unknown, field: string): AppError {
  if (error instanceof AppError) return error
  const { code = '' } = error as { code?: string }
  if (code === 'FST_FILES_LIMIT') return badRequest(`send one file, in the field ${field}`)
  if (code === 'FST_PARTS_LIMIT' || code === 'FST_FIELDS_LIMIT')
    return new AppError(
      'payload_too_large',
      `the form has too many parts; send one file, in the field ${field}`,
    )
  return new AppError(
    'bad_request',
    'the form is malformed, or ends before its last boundary; send it again',
    {
      cause: error,
    },
  )
}

const createNotMultipartError = (): AppError =>
  new AppError('unsupported_media_type', 'send the body as multipart/form-data with a boundary')
const createEncodedBodyError = (): AppError =>
  new AppError(
    'unsupported_media_type',
    'send the body without a Content-Encoding; the file itself may be compressed',
  )
const createFieldTooLargeError = (): AppError =>
  new AppError('payload_too_large', `a form field exceeds ${limits.fieldSize} bytes; omit it`)
const createBodyTooLargeError = (maxBodyBytes: number): AppError =>
  new AppError('payload_too_large', `the body exceeds ${maxBodyBytes} bytes; send a smaller file`)
