// Reads package.json from an archive that `npm pack` created, which is a gzip-compressed tar file.
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { createGunzip } from 'node:zlib'
import { Failure } from './failures.ts'

const blockBytes = 512
const maxManifestBytes = 1_048_576
/**
 * Limits decompression, because a small archive can expand to a huge size. The manifest is near the start of the
 * archive.
 */
const maxReadBytes = 256 * 1_048_576
const gzipMagic = Buffer.from([0x1f, 0x8b])

/** Returns the package.json inside the archive, or null if the file is not a gzip archive. */
export async function readPackedManifest(
  file: string,
): Promise<{ name?: unknown; version?: unknown } | null> {
  if (!(await isGzip(file))) return null
  const archive = createReadStream(file)
  try {
    const decompressed = createGunzip()
    archive.on('error', (error) => decompressed.destroy(error)).pipe(decompressed)
    const text = await findManifest(decompressed as AsyncIterable<Buffer>)
    if (text !== null) return JSON.parse(text) as { name?: unknown; version?: unknown }
  } catch (error) {
    throw new Failure('usage', `${file} is not an npm package archive: ${(error as Error).message}`)
  } finally {
    archive.destroy()
  }
  throw new Failure('usage', `${file} contains no package/package.json. Pass --as <name>@<version>.`)
}

async function isGzip(file: string): Promise<boolean> {
  const handle = await open(file)
  try {
    const { buffer } = await handle.read(Buffer.alloc(2), 0, 2, 0)
    return buffer.equals(gzipMagic)
  } finally {
    await handle.close()
  }
}

/** Reads the archive entries up to the manifest. Returns null if there is no manifest. */
async function findManifest(chunks: AsyncIterable<Buffer>): Promise<string | null> {
  let [buffered, skipBytes, readBytes] = [Buffer.alloc(0), 0, 0]
  for await (const chunk of chunks) {
    readBytes += chunk.length
    if (readBytes > maxReadBytes) return null
    buffered = Buffer.concat([buffered, chunk])
    for (;;) {
      const skippedBytes = Math.min(skipBytes, buffered.length)
      buffered = buffered.subarray(skippedBytes)
      skipBytes -= skippedBytes
      if (skipBytes > 0 || buffered.length < blockBytes) break
      const entry = parseHeader(buffered.subarray(0, blockBytes))
      if (entry === null) return null
      if (entry.name !== 'package/package.json') {
        skipBytes = blockBytes + padToBlock(entry.size)
        continue
      }
      if (entry.size > maxManifestBytes) return null
      if (buffered.length < blockBytes + entry.size) break
      return buffered.subarray(blockBytes, blockBytes + entry.size).toString('utf8')
    }
  }
  return null
}

const padToBlock = (size: number): number => Math.ceil(size / blockBytes) * blockBytes

/** Parses the name and size in a tar header. Returns null at the end of the archive. */
function parseHeader(header: Buffer): { name: string; size: number } | null {
  const readText = (from: number, length: number): string =>
    header
      .subarray(from, from + length)
      .toString('latin1')
      .replace(/\0.*$/s, '')
  const [name, size, prefix] = [readText(0, 100), readText(124, 12).trim(), readText(345, 155)]
  if (name === '' || !/^[0-7]{1,12}$/.test(size)) return null
  return { name: prefix === '' ? name : `${prefix}/${name}`, size: Number.parseInt(size, 8) }
}
