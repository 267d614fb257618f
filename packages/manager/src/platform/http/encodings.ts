// Files that are compressed once per encoding and sent many times.
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { type ContentEncoding, selectEncoding } from './content-encoding.ts'

/** A file in one encoding. `contentHeaders` names the encoding and is sent only with the bytes. */
type EncodedFile = {
  body: Buffer
  length: number
  etag: string
  contentHeaders: Record<string, string>
}
/** Returns the file in the smallest encoding that Accept-Encoding allows. The response needs `Vary: Accept-Encoding`. */
type Encode = (acceptHeader: string | undefined) => Promise<EncodedFile>

/**
 * Prepares a file for sending. The file is compressed in the thread pool, at the first request for each encoding.
 * Brotli qualities above 9 take seconds per megabyte and save only a few percent.
 */
export function createEncodings(bytes: Buffer, brotliQuality: number): Encode {
  const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 27)
  const results = new Map<ContentEncoding, Promise<EncodedFile>>()
  return (acceptHeader) => {
    const encoding = selectEncoding(acceptHeader)
    const result = results.get(encoding) ?? encode(bytes, encoding, { hash, brotliQuality })
    results.set(encoding, result)
    // A later request tries again.
    result.catch(() => results.delete(encoding))
    return result
  }
}

async function encode(
  bytes: Buffer,
  encoding: ContentEncoding,
  { hash, brotliQuality }: { hash: string; brotliQuality: number },
): Promise<EncodedFile> {
  const body = await compress(bytes, encoding, brotliQuality)
  const contentHeaders: Record<string, string> =
    encoding === 'identity' ? {} : { 'content-encoding': encoding }
  // ETags differ between encodings, because the bytes do.
  return { body, length: body.length, etag: `"${hash}-${encoding}"`, contentHeaders }
}

async function compress(bytes: Buffer, encoding: ContentEncoding, brotliQuality: number): Promise<Buffer> {
  if (encoding === 'identity') return bytes
  if (encoding === 'gzip') return promisify(gzip)(bytes)
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: brotliQuality,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  }
  return promisify(brotliCompress)(bytes, { params })
}
