export type ContentEncoding = 'br' | 'gzip' | 'identity'

/** The smallest encoding that Accept-Encoding allows; what it does not name is not sent. */
export function encodingFor(accepted: string | undefined): ContentEncoding {
  const allowed = new Map<string, boolean>()
  for (const part of (accepted ?? '').split(',')) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase())
    allowed.set(name, !parameters.some((parameter) => /^q=0(\.0{0,3})?$/.test(parameter)))
  }
  const encodings = ['br', 'gzip'] as const
  return encodings.find((name) => allowed.get(name) ?? allowed.get('*') ?? false) ?? 'identity'
}
