// The server reads no body of a GET. A route that takes one there reads it with this, after the gate.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError, badRequest } from '../errors.ts'

const maxBytes = 16_384

/** Makes the JSON body of a GET, of at most 16 KiB, the request's `body`; without one it stays undefined. */
export function readBodiesOfGets(server: FastifyInstance): void {
  server.addHook('preValidation', async (request) => {
    const { raw, headers } = request
    const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
    if (!['GET', 'HEAD'].includes(raw.method ?? '') || !hasBody) return
    if (!/^application\/json(?:; ?charset="?utf-8"?)?$/i.test(headers['content-type'] ?? ''))
      throw new AppError('unsupported_media_type', 'send the body as application/json; charset=utf-8')
    const text = await readText(request)
    if (text !== '') request.body = parsed(text)
  })
}

/** How long it may take is watched for all requests (arriving-bodies.ts); what is too much is left to be dropped. */
function readText({ raw }: FastifyRequest): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const pieces: Buffer[] = []
  let bytes = 0
  const take = (piece: Buffer): void => {
    bytes += piece.length
    if (bytes <= maxBytes) return void pieces.push(piece)
    raw.off('data', take)
    reject(new AppError('payload_too_large', `the body must have at most ${maxBytes} bytes`))
  }
  raw.on('data', take)
  raw.once('end', () => resolve(Buffer.concat(pieces).toString('utf8')))
  raw.once('error', reject)
  raw.once('close', () => reject(badRequest('the body has not arrived')))
  return promise
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw badRequest('the request body is not valid JSON')
  }
}
