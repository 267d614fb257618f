// Determines the media type and specification of an upload. Bytes are never unpacked, and downloads use only a few
// media types.

const javascriptTypes = ['text/javascript', 'application/javascript', 'application/x-javascript']
const gzipTypes = ['application/gzip', 'application/x-gzip']
const knownTypes = new Set([...javascriptTypes, ...gzipTypes])

const typeByEnding: [RegExp, string][] = [
  [/\.m?js$/i, 'text/javascript'],
  [/\.t?gz$/i, 'application/gzip'],
]

/** Returns the media type to store: the declared type if it is known, otherwise the type for the file extension. */
export function storedTypeOf(declared: string, fileName: string): string {
  const [bare = ''] = declared.split(';', 1)
  const type = bare.trim().toLowerCase()
  if (knownTypes.has(type)) return type
  return typeByEnding.find(([ending]) => ending.test(fileName))?.[1] ?? 'application/octet-stream'
}

const longestMark = 40

/** Returns the specification in the first line, as in `//@pilet v:2(…)`, or v2 if there is none. */
export function specOf(bytes: Buffer): string {
  const [first = ''] = bytes.toString('latin1', 0, longestMark).split('\n', 1)
  const version = /^\/\/@pilet v:(\d{1,3})(?!\d)/.exec(first)?.[1]
  return version === undefined ? 'v2' : `v${version}`
}
