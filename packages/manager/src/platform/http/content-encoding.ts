/** The encodings that the server can send. */
export type ContentEncoding = 'br' | 'gzip' | 'identity'

/** Returns the smallest encoding that Accept-Encoding allows, or `identity`. */
export function selectEncoding(accepted: string | undefined): ContentEncoding {
  const allowed = new Map<string, boolean>()
  for (const part of (accepted ?? '').split(',')) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase())
    allowed.set(name, !parameters.some((parameter) => /^q=0(\.0{0,3})?$/.test(parameter)))
  }
  const encodings = ['br', 'gzip'] as const
  return encodings.find((name) => allowed.get(name) ?? allowed.get('*') ?? false) ?? 'identity'
}
