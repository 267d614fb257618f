// Determines the media type and specification of an upload. Bytes are never unpacked, and downloads use only a few
// media types.

const javascriptTypes = ['text/javascript', 'application/javascript', 'application/x-javascript']
const gzipTypes = ['application/gzip', 'application/x-gzip']
const knownTypes = new Set([...javascriptTypes, ...gzipTypes])

const typeByExtension: [RegExp, string][] = [
  [/\.m?js$/i, 'text/javascript'],
  [/\.t?gz$/i, 'application/gzip'],
]

/** Returns the media type to store: the declared type if it is known, otherwise the type for the file extension. */
export function getStoredType(declaredType: string, fileName: string): string {
  const [bareType = ''] = declaredType.split(';', 1)
  const type = bareType.trim().toLowerCase()
  if (knownTypes.has(type)) return type
  return typeByExtension.find(([extension]) => extension.test(fileName))?.[1] ?? 'application/octet-stream'
}

const maxMarkLength = 40

/** Returns the specification in the first line, as in `//@pilet v:2(…)`, or v2 if there is none. */
export function detectSpec(bytes: Buffer): string {
  const [firstLine = ''] = bytes.toString('latin1', 0, maxMarkLength).split('\n', 1)
  const version = /^\/\/@pilet v:(\d{1,3})(?!\d)/.exec(firstLine)?.[1]
  return version === undefined ? 'v2' : `v${version}`
}
