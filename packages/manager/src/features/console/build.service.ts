// Reads the built console into memory at startup. A request selects a file by name from a map, so no path from a
// request reaches the file system.
import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'

type ConsoleFile = { bytes: Buffer; contentType: string; isCompressible: boolean }
/** The page, and the files of `assets/` by name. */
export type ConsoleBuild = { page: Buffer; assets: ReadonlyMap<string, ConsoleFile> }

const maxBytes = 33_554_432

const contentTypes: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}
const otherType = 'application/octet-stream'
const compressedTypes = new Set(['image/png', 'font/woff2'])

/**
 * Returns the build in `folder`, or null if the console is not built. Throws if the build is too large to keep in memory.
 */
export function readConsoleBuild(folder: string): ConsoleBuild | null {
  try {
    const page = readFileSync(path.join(folder, 'index.html'))
    const assets = new Map(
      readdirSync(path.join(folder, 'assets')).map((name) => [name, readAsset(folder, name)]),
    )
    const totalBytes = assets.values().reduce((sum, { bytes }) => sum + bytes.length, page.length)
    if (totalBytes > maxBytes) throw new Error(`the console in ${folder} has more than ${maxBytes} bytes`)
    return { page, assets }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

function readAsset(folder: string, name: string): ConsoleFile {
  const contentType = contentTypes[path.extname(name)] ?? otherType
  return {
    bytes: readFileSync(path.join(folder, 'assets', name)),
    contentType,
    isCompressible: !compressedTypes.has(contentType),
  }
}
