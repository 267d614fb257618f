/** The encodings that the server can send. */
export type ContentEncoding = 'br' | 'gzip' | 'identity'

/** Returns the smallest encoding that Accept-Encoding allows, or `identity`. */
export function selectEncoding(acceptHeader: string | undefined): ContentEncoding {
  const isAllowedByName = new Map<string, boolean>()
  for (const part of (acceptHeader ?? '').split(',')) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase())
    isAllowedByName.set(name, !parameters.some((parameter) => /^q=0(\.0{0,3})?$/.test(parameter)))
  }
  const encodings = ['br', 'gzip'] as const
  return (
    encodings.find((name) => isAllowedByName.get(name) ?? isAllowedByName.get('*') ?? false) ?? 'identity'
  )
}
