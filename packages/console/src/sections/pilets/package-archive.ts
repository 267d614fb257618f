// Reads the name and the version of a pilet from the archive that `npm pack` created. Only package.json is kept, and
// reading stops as soon as it is found.

export type PackageManifest = {
  readonly name: string
  readonly version: string
  readonly description: string
}
/** Why a file cannot be uploaded. */
export type FileProblem =
  'empty' | 'unknownType' | 'damaged' | 'noManifest' | 'noNameOrVersion' | 'unreadable'
/** A script has no manifest, so a person enters its name and version. */
export type ReadPackage =
  | { readonly kind: 'package'; readonly manifest: PackageManifest }
  | { readonly kind: 'script' }
  | { readonly kind: 'problem'; readonly problem: FileProblem }

const blockBytes = 512
const maxManifestBytes = 1_048_576
const maxUnpackedBytes = 256 * 1_048_576
const maxDescriptionLength = 1_000

/** Returns what a file contains. Never throws, because a file can disappear or change while it is read. */
export async function readPackage(file: File): Promise<ReadPackage> {
  if (file.size === 0) return { kind: 'problem', problem: 'empty' }
  try {
    const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer())
    const isGzip = first === 0x1f && second === 0x8b
    if (!isGzip)
      return /\.m?js$/i.test(file.name) ? { kind: 'script' } : { kind: 'problem', problem: 'unknownType' }
  } catch {
    return { kind: 'problem', problem: 'unreadable' }
  }
  try {
    return await readManifest(file)
  } catch {
    return { kind: 'problem', problem: 'damaged' }
  }
}

async function readManifest(file: File): Promise<ReadPackage> {
  const text = await findManifest(file.stream().pipeThrough(new DecompressionStream('gzip')))
  if (text === null) return { kind: 'problem', problem: 'noManifest' }
  const { name, version, description } = (parseObject(text) ?? {}) as Record<string, unknown>
  if (typeof name !== 'string' || typeof version !== 'string' || name === '' || version === '')
    return { kind: 'problem', problem: 'noNameOrVersion' }
  return {
    kind: 'package',
    manifest: {
      name,
      version,
      description: typeof description === 'string' ? description.slice(0, maxDescriptionLength) : '',
    },
  }
}

function parseObject(text: string): object | null {
  try {
    const value = JSON.parse(text) as unknown
    return typeof value === 'object' && value !== null ? value : null
  } catch {
    return null
  }
}

/** Reads the unpacked archive in pieces. Returns the text of package/package.json, or null if there is none. */
async function findManifest(unpacked: ReadableStream<Uint8Array>): Promise<string | null> {
  const reader = unpacked.getReader()
  const blocks = createBlockReader(reader)
  try {
    for (;;) {
      const header = await blocks.read(blockBytes)
      const entry = header === null ? null : parseHeader(header)
      if (entry === null) return null
      if (entry.name === 'package/package.json') {
        const content = entry.size > maxManifestBytes ? null : await blocks.read(entry.size)
        return content === null ? null : new TextDecoder().decode(content)
      }
      await blocks.skip(Math.ceil(entry.size / blockBytes) * blockBytes)
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

/** Reads exact numbers of bytes from a stream, and never buffers more than one request and one piece. */
function createBlockReader(reader: ReadableStreamDefaultReader<Uint8Array>) {
  let buffered: Uint8Array = new Uint8Array()
  let unpackedBytes = 0
  const readPiece = async (): Promise<Uint8Array | null> => {
    const { value, done } = await reader.read()
    if (done) return null
    unpackedBytes += value.length
    if (unpackedBytes > maxUnpackedBytes) throw new Error('the archive unpacks to too many bytes')
    return value
  }
  return {
    /** Returns null if the stream ends earlier. */
    read: async (bytes: number): Promise<Uint8Array | null> => {
      while (buffered.length < bytes) {
        const piece = await readPiece()
        if (piece === null) return null
        const joined = new Uint8Array(buffered.length + piece.length)
        joined.set(buffered)
        joined.set(piece, buffered.length)
        buffered = joined
      }
      const result = buffered.subarray(0, bytes)
      buffered = buffered.subarray(bytes)
      return result
    },
    skip: async (bytes: number): Promise<void> => {
      let remaining = bytes
      while (remaining > buffered.length) {
        remaining -= buffered.length
        buffered = (await readPiece()) ?? new Uint8Array()
        if (buffered.length === 0) return
      }
      buffered = buffered.subarray(remaining)
    },
  }
}

/** Parses the name and the size in a header of the tar format. Returns null at the end of the archive. */
function parseHeader(header: Uint8Array): { name: string; size: number } | null {
  const readText = (from: number, length: number): string =>
    new TextDecoder('latin1').decode(header.subarray(from, from + length)).split('\0', 1)[0] ?? ''
  const [name, size, prefix] = [readText(0, 100), readText(124, 12).trim(), readText(345, 155)]
  if (name === '' || !/^[0-7]{1,12}$/.test(size)) return null
  return { name: prefix === '' ? name : `${prefix}/${name}`, size: Number.parseInt(size, 8) }
}
