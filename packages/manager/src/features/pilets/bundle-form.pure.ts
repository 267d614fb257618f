// What an upload says of itself. Bytes are never unpacked, and nothing but a few media types is ever sent back. Pure.

const javascriptTypes = ['text/javascript', 'application/javascript', 'application/x-javascript']
const gzipTypes = ['application/gzip', 'application/x-gzip']
const knownTypes = new Set([...javascriptTypes, ...gzipTypes])

const typeByEnding: [RegExp, string][] = [
  [/\.m?js$/i, 'text/javascript'],
  [/\.t?gz$/i, 'application/gzip'],
]

/** The media type that is stored: the declared one if it is a known one, else by the name of the file. */
export function storedTypeOf(declared: string, fileName: string): string {
  const [bare = ''] = declared.split(';', 1)
  const type = bare.trim().toLowerCase()
  if (knownTypes.has(type)) return type
  return typeByEnding.find(([ending]) => ending.test(fileName))?.[1] ?? 'application/octet-stream'
}

const longestMark = 40

/** The specification that the first line names, as in `//@pilet v:2(…)`; v2 where it names none. */
export function specOf(bytes: Buffer): string {
  const [first = ''] = bytes.toString('latin1', 0, longestMark).split('\n', 1)
  const version = /^\/\/@pilet v:(\d{1,3})(?!\d)/.exec(first)?.[1]
  return version === undefined ? 'v2' : `v${version}`
}
