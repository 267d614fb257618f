// The server does not read GET bodies. Routes that accept a GET body read it with this hook, after the gate.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError, badRequest } from '../errors.ts'

const maxBytes = 16_384

/**
 * Parses the JSON body of a GET (at most 16 KiB) into `request.body`, which stays undefined without a body.
 */
export function acceptGetBodies(server: FastifyInstance): void {
  server.addHook('preValidation', async (request) => {
    const { raw, headers } = request
    const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
    if (!['GET', 'HEAD'].includes(raw.method ?? '') || !hasBody) return
    if (!/^application\/json(?:; ?charset="?utf-8"?)?$/i.test(headers['content-type'] ?? ''))
      throw new AppError('unsupported_media_type', 'send the body as application/json; charset=utf-8')
    const text = await readText(request)
    if (text !== '') request.body = parseJson(text)
  })
}

/**
 * Reads the body as text. arriving-bodies.ts enforces the time limit and drops bytes beyond the size limit.
 */
function readText({ raw }: FastifyRequest): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const pieces: Buffer[] = []
  let bytes = 0
  const onData = (piece: Buffer): void => {
    bytes += piece.length
    if (bytes <= maxBytes) return void pieces.push(piece)
    raw.off('data', onData)
    reject(new AppError('payload_too_large', `the body must be at most ${maxBytes} bytes long`))
  }
  raw.on('data', onData)
  raw.once('end', () => resolve(Buffer.concat(pieces).toString('utf8')))
  raw.once('error', reject)
  raw.once('close', () => reject(badRequest('the body is incomplete')))
  return promise
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw badRequest('the request body is not valid JSON')
  }
}
