// Reads package.json from an archive that `npm pack` created: tar compressed with gzip.
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { createGunzip } from 'node:zlib'
import { Failure } from './failures.ts'

const blockBytes = 512
const maxManifestBytes = 1_048_576
/** Bounds decompression: a small archive can expand to a huge text. The manifest is near the start. */
const maxReadBytes = 256 * 1_048_576
const gzip = Buffer.from([0x1f, 0x8b])

/** Returns the package.json inside the archive, or null if the file is not a gzip archive. */
export async function readPackedManifest(
  file: string,
): Promise<{ name?: unknown; version?: unknown } | null> {
  if (!(await isGzip(file))) return null
  const raw = createReadStream(file)
  try {
    const unpacked = createGunzip()
    raw.on('error', (error) => unpacked.destroy(error)).pipe(unpacked)
    const text = await findManifest(unpacked as AsyncIterable<Buffer>)
    if (text !== null) return JSON.parse(text) as { name?: unknown; version?: unknown }
  } catch (error) {
    throw new Failure('usage', `${file} is not an npm package archive: ${(error as Error).message}`)
  } finally {
    raw.destroy()
  }
  throw new Failure('usage', `${file} contains no package/package.json. Pass --as <name>@<version>.`)
}

async function isGzip(file: string): Promise<boolean> {
  const handle = await open(file)
  try {
    const { buffer } = await handle.read(Buffer.alloc(2), 0, 2, 0)
    return buffer.equals(gzip)
  } finally {
    await handle.close()
  }
}

/** Walks the archive entries up to the manifest. Returns null if it finds none. */
async function findManifest(chunks: AsyncIterable<Buffer>): Promise<string | null> {
  let [kept, skip, read] = [Buffer.alloc(0), 0, 0]
  for await (const chunk of chunks) {
    read += chunk.length
    if (read > maxReadBytes) return null
    kept = Buffer.concat([kept, chunk])
    for (;;) {
      const skipped = Math.min(skip, kept.length)
      kept = kept.subarray(skipped)
      skip -= skipped
      if (skip > 0 || kept.length < blockBytes) break
      const entry = entryOf(kept.subarray(0, blockBytes))
      if (entry === null) return null
      if (entry.name !== 'package/package.json') {
        skip = blockBytes + padded(entry.size)
        continue
      }
      if (entry.size > maxManifestBytes) return null
      if (kept.length < blockBytes + entry.size) break
      return kept.subarray(blockBytes, blockBytes + entry.size).toString('utf8')
    }
  }
  return null
}

const padded = (size: number): number => Math.ceil(size / blockBytes) * blockBytes

/** Parses the name and size in a tar header. Returns null at the end of the archive. */
function entryOf(header: Buffer): { name: string; size: number } | null {
  const textAt = (from: number, length: number): string =>
    header
      .subarray(from, from + length)
      .toString('latin1')
      .replace(/\0.*$/s, '')
  const [name, size, prefix] = [textAt(0, 100), textAt(124, 12).trim(), textAt(345, 155)]
  if (name === '' || !/^[0-7]{1,12}$/.test(size)) return null
  return { name: prefix === '' ? name : `${prefix}/${name}`, size: Number.parseInt(size, 8) }
}
