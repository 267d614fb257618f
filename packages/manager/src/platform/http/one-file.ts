// A form with one file, read as it arrives (multipart/form-data). Everything a client may send around the file is bounded;
// what is no such form is refused, and nothing of a body that was refused stays in memory.
import multipart from '@fastify/multipart'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError, badRequest } from '../errors.ts'

export type FormFile = { declaredType: string; fileName: string }
export type OneFileOptions = {
  /** The name of the field that holds it. */
  field: string
  /** The largest file; what takes the pieces may refuse earlier. */
  maxBytes: number
  take: (piece: Uint8Array) => Promise<void>
}

// Boundaries, headers and fields that we do not know.
const maxBytesAround = 65_536
const limits = {
  files: 1,
  fields: 4,
  parts: 6,
  fieldNameSize: 100,
  fieldSize: 1_024,
  headerPairs: 20,
  headerSize: 8_192,
}

/** The routes of this instance take forms, and no other body. */
export function acceptOnlyForms(server: FastifyInstance): void {
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', (_request, _body, done) => done(noForm()))
  void server.register(multipart, { throwFileSizeLimit: false })
}

/** The length that the client says its body has; null where it does not. */
const announcedLength = ({ headers }: FastifyRequest): number | null =>
  headers['content-length'] === undefined ? null : Number(headers['content-length'])

/** The largest body with a file of so many bytes. */
export const maxFormBytes = (maxBytes: number): number => maxBytes + maxBytesAround

/**
 * Hands over the pieces of the one file, and returns what the form says of it once the form has ended. Throws 400, 413 or
 * 415, or what `take` throws.
 */
export async function readOneFile(request: FastifyRequest, options: OneFileOptions): Promise<FormFile> {
  if (!request.isMultipart()) throw noForm()
  if ((request.headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity') throw encoded()
  const maxBody = maxFormBytes(options.maxBytes)
  const length = announcedLength(request)
  if (length !== null && length > maxBody) throw tooLarge(maxBody)
  const body = request.raw
  const { promise: tooLong, reject } = Promise.withResolvers<never>()
  // Nobody waits for it once the form has been read.
  tooLong.catch(() => undefined)
  let received = 0
  body.on('data', (piece: Buffer) => {
    received += piece.length
    if (received > maxBody) reject(tooLarge(maxBody))
    // What follows a refusal is read and dropped, so that the client sees the answer; but not without end.
    if (received > 2 * maxBody) body.destroy()
  })
  try {
    return await Promise.race([readForm(request, options), tooLong])
  } finally {
    body.unpipe()
    body.resume()
  }
}

async function readForm(
  request: FastifyRequest,
  { field, maxBytes, take }: OneFileOptions,
): Promise<FormFile> {
  let found: FormFile | null = null
  try {
    const parts = request.parts({
      limits: { ...limits, fileSize: maxBytes + 1 },
      // Clients leave out the name of a file that has none.
      isPartAFile: (name, _type, fileName) => name === field || fileName !== undefined,
    })
    for await (const part of parts) {
      if (part.type === 'field') {
        if (part.valueTruncated) throw tooLargeField()
        continue
      }
      if (part.fieldname !== field) throw badRequest(`send the file in the field ${field}, and no other file`)
      for await (const piece of part.file) await take(piece as Buffer)
      found = { declaredType: part.mimetype, fileName: part.filename ?? '' }
    }
  } catch (error) {
    throw asRefusal(error, field)
  }
  if (found === null) throw badRequest(`the form has no file; send it in the field ${field}`)
  return found
}

/** What the parser says has no text for callers, and mostly no code. */
function asRefusal(error: unknown, field: string): AppError {
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

const noForm = (): AppError =>
  new AppError('unsupported_media_type', 'send the body as multipart/form-data with a boundary')
const encoded = (): AppError =>
  new AppError(
    'unsupported_media_type',
    'the body has a Content-Encoding; send it without one, the file may be compressed itself',
  )
const tooLargeField = (): AppError =>
  new AppError(
    'payload_too_large',
    `a field of the form has more than ${limits.fieldSize} bytes; leave it out`,
  )
const tooLarge = (maxBody: number): AppError =>
  new AppError('payload_too_large', `the body has more than ${maxBody} bytes; send a smaller file`)
