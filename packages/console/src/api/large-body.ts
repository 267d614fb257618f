// Reads large responses of REST routes piece by piece, with progress and a limit on their size.
import { ConnectionError, send } from '@manager/client'
import { connection } from './connection.ts'
import { reportError, reportSuccess } from './connection-state.ts'

/** The response exceeds the limit, so its rest was not read. */
export class TooLargeError extends Error {}

type BodyRead = {
  path: string
  signal: AbortSignal
  maxBytes: number
  /** Called with each piece, and with the number of bytes so far. */
  onPiece: (piece: Uint8Array<ArrayBuffer>, bytes: number) => void
}

async function readPieces(response: Response, { signal, maxBytes, onPiece }: BodyRead): Promise<void> {
  const reader = response.body?.getReader()
  for (let bytes = 0; ;) {
    const part = await reader?.read()
    signal.throwIfAborted()
    if (part === undefined || part.done) return
    bytes += part.value.length
    if (bytes > maxBytes) {
      await reader?.cancel()
      throw new TooLargeError(`the response exceeds ${maxBytes} bytes`)
    }
    onPiece(part.value, bytes)
  }
}

/** Reads a body. Throws a TooLargeError, or the errors of the client. */
export async function readLargeBody(read: BodyRead): Promise<void> {
  try {
    const response = await send(connection, { method: 'GET', path: read.path, signal: read.signal })
    await readPieces(response, read).catch((error: unknown) => {
      // The browser throws a TypeError if the connection closes before the body is complete.
      if (!(error instanceof TypeError)) throw error
      throw new ConnectionError(`GET ${read.path}: the response is incomplete`, { cause: error })
    })
    reportSuccess()
  } catch (error) {
    if (!read.signal.aborted) reportError(error)
    throw error
  }
}

/** Reads a JSON body. */
export async function readLargeJson<Body>({
  onBytes,
  ...read
}: Omit<BodyRead, 'onPiece'> & { onBytes?: (bytes: number) => void }): Promise<Body> {
  const decoder = new TextDecoder()
  const texts: string[] = []
  await readLargeBody({
    ...read,
    onPiece: (piece, bytes) => {
      texts.push(decoder.decode(piece, { stream: true }))
      onBytes?.(bytes)
    },
  })
  return JSON.parse(texts.join('') + decoder.decode()) as Body
}
