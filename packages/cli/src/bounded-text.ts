import type { Readable } from 'node:stream'
import { Failure } from './failures.ts'

const bytesPerMegabyte = 1_048_576

/** Returns the text of a stream. Throws if the text is longer than the limit. The error message starts with `name`. */
export async function readBoundedText(stream: Readable, name: string, maxMegabytes = 1): Promise<string> {
  const maxBytes = maxMegabytes * bytesPerMegabyte
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > maxBytes) throw new Failure('usage', `${name} is larger than ${maxMegabytes} MiB.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
