// Hides secrets in the requests and responses that --verbose shows. Every text is parsed or compared, never executed.

const hidden = '***'
const secretName = /password|secret|token|hashedkey|credential|authorization|cookie|^link$/i
// These fields contain a part of a name, not a secret.
const publicName = /(prefix|ids?|count|name)$/i
const isSecretName = (name: string): boolean => secretName.test(name) && !publicName.test(name)
const isSecretHeader = (name: string): boolean => isSecretName(name) || /auth|key/i.test(name)
// A shorter value could be a part of any text.
const minValueLength = 4

export type Masking = {
  header: (name: string, value: string) => string
  path: (path: string) => string
  body: (text: string) => string
}

/**
 * Returns functions that hide secrets. `document` is a GraphQL document: its aliases and variables can give secrets other
 * names. `values` are secrets that are hidden wherever they occur.
 */
export function createMasking(document: string, values: readonly string[]): Masking {
  const names = findSecretNames(document)
  const isSecret = (name: string): boolean => isSecretName(name) || names.has(name)
  const hideValues = (text: string): string =>
    values.reduce((masked, value) => {
      const trimmed = value.trim()
      return trimmed.length < minValueLength ? masked : masked.replaceAll(trimmed, hidden)
    }, text)
  const maskJson = (value: unknown): unknown => {
    if (typeof value === 'string') return hideValues(maskDocument(value))
    if (Array.isArray(value)) return value.map(maskJson)
    if (typeof value !== 'object' || value === null) return value
    const isSecretPair = 'Key' in value && typeof value.Key === 'string' && isSecret(value.Key)
    return Object.fromEntries(
      Object.entries(value).map(([name, nested]) => [
        name,
        typeof nested === 'string' && (isSecret(name) || (isSecretPair && name === 'Value'))
          ? hidden
          : maskJson(nested),
      ]),
    )
  }
  return {
    header: (name, value) => (isSecretHeader(name) ? hidden : hideValues(value)),
    path: (text) => hideValues(maskQuery(text, isSecret)),
    body: (text) => {
      const json = tryParse(text)
      return json === undefined ? hideValues(text) : JSON.stringify(maskJson(json))
    },
  }
}

function maskQuery(text: string, isSecret: (name: string) => boolean): string {
  const [path = '', query] = text.split(/\?(.*)/s)
  if (query === undefined) return path
  const parts = query.split('&').map((part) => {
    const name = part.split('=', 1)[0] ?? ''
    return isSecret(name) ? `${name}=${hidden}` : part
  })
  return `${path}?${parts.join('&')}`
}

// In a GraphQL document: an argument or a field with a string, and an alias or a variable.
const stringArgument = /\b(\w+)(\s*:\s*)("""[\s\S]*?"""|"(?:[^"\\\n]|\\.)*")/g
const renaming = /\b(\w+)\s*:\s*(\$?)(\w+)/g

const maskDocument = (text: string): string =>
  text.replaceAll(stringArgument, (whole, name: string, colon: string) =>
    isSecretName(name) ? `${name}${colon}"${hidden}"` : whole,
  )

/** Returns the aliases of secret fields, and the variables of secret arguments. */
function findSecretNames(document: string): Set<string> {
  const names = new Set<string>()
  for (const [, left = '', dollar, right = ''] of document.matchAll(renaming)) {
    if (dollar === '$' && isSecretName(left)) names.add(right)
    if (dollar === '' && isSecretName(right)) names.add(left)
  }
  return names
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
