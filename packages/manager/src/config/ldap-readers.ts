// Readers for the settings of the LDAP directory: server addresses, attribute names and search filters (RFC 4515).
import { type Reader, splitList } from './readers.ts'

const maxServers = 8

/** Reads a list of LDAP servers. The URLs have no credentials, because they are printed, and no path or query. */
export const ldapUrlList: Reader<string[]> = (raw) => {
  const urls = splitList(raw)
  return urls.length > 0 && urls.length <= maxServers && urls.every(isLdapUrl)
    ? { value: [...new Set(urls)] }
    : {
        problem: `must be a list of 1 to ${maxServers} URLs such as ldaps://ldap.example or ldap://10.0.0.2:389, without credentials, path or query`,
      }
}

function isLdapUrl(item: unknown): item is string {
  const url = typeof item === 'string' ? URL.parse(item) : null
  return (
    url !== null &&
    (url.protocol === 'ldap:' || url.protocol === 'ldaps:') &&
    /^(?:[a-zA-Z0-9._-]{1,253}|\[[0-9a-fA-F:.]{2,45}\])$/.test(url.hostname) &&
    (url.pathname === '' || url.pathname === '/') &&
    url.username + url.password + url.search + url.hash === ''
  )
}

/** Reads the absolute path of a file. */
export const filePath: Reader<string> = (raw) =>
  typeof raw === 'string' && raw.startsWith('/') && raw.length <= 4_096
    ? { value: raw }
    : { problem: 'must be an absolute path such as /etc/ssl/ldap-ca.pem' }

const attributePattern = /^[A-Za-z][A-Za-z0-9-]{0,99}$/

/** Reads the name of an LDAP attribute. */
export const attributeName: Reader<string> = (raw) =>
  typeof raw === 'string' && attributePattern.test(raw)
    ? { value: raw }
    : { problem: 'must be the name of an LDAP attribute such as entryUUID' }

const maxFilterLength = 2_000
const maxFilterDepth = 20

/** Reads a search filter without placeholders. */
export const ldapFilter: Reader<string> = (raw) =>
  typeof raw === 'string' && isFilter(raw) && !raw.includes('{')
    ? { value: raw }
    : { problem: 'must be an LDAP filter such as (objectClass=person), without placeholders' }

/**
 * Reads a search filter with placeholders: `{text}` is the escaped search text, `{pattern}` is the text with wildcards.
 */
export const ldapFilterTemplate: Reader<string> = (raw) => {
  const isTemplate =
    typeof raw === 'string' &&
    /\{(?:text|pattern)\}/.test(raw) &&
    !/[{}]/.test(raw.replaceAll(/\{(?:text|pattern)\}/g, '')) &&
    // The first check rejects placeholders outside of values, and the second a pattern where wildcards are not allowed.
    isFilter(raw) &&
    isFilter(raw.replaceAll('{text}', 'x').replaceAll('{pattern}', '*x*')) &&
    // A pattern next to other text would not be the pattern that the caller expects.
    !/(?:[^=]|[<>~:]=)\{pattern\}|\{pattern\}[^)]/.test(raw)
  return isTemplate
    ? { value: raw }
    : {
        problem:
          'must be an LDAP filter such as (|(cn={pattern})(mail={pattern})) with {pattern} or {text} as values, and no other placeholders',
      }
}

/** Whether the text is one complete filter. */
export function isFilter(text: string): boolean {
  if (text.length > maxFilterLength || text.includes('\0')) return false
  try {
    return readFilter(text, 0, 0) === text.length
  } catch (error) {
    if (error instanceof SyntaxError) return false
    throw error
  }
}

/** Returns the position after the filter that starts at `at`. */
function readFilter(text: string, at: number, depth: number): number {
  if (text[at] !== '(' || depth > maxFilterDepth) throw new SyntaxError('a filter starts with a parenthesis')
  const operator = text[at + 1] ?? ''
  if (operator === '!') return readClose(text, readFilter(text, at + 2, depth + 1))
  if (operator === '&' || operator === '|') {
    let position = readFilter(text, at + 2, depth + 1)
    while (text[position] === '(') position = readFilter(text, position, depth + 1)
    return readClose(text, position)
  }
  const end = text.indexOf(')', at)
  if (end === -1 || !isComparison(text.slice(at + 1, end))) throw new SyntaxError('a filter compares a value')
  return end + 1
}

function readClose(text: string, at: number): number {
  if (text[at] !== ')') throw new SyntaxError('a filter ends with a parenthesis')
  return at + 1
}

// Escapes above 7f would need their UTF-8 bytes, which the client library does not decode.
const comparisonPatterns = [
  /^[A-Za-z][A-Za-z0-9-]*=(?:[^\\()]|\\[0-7][0-9a-fA-F])*$/,
  /^[A-Za-z][A-Za-z0-9-]*[<>~]=(?:[^\\*()]|\\[0-7][0-9a-fA-F])*$/,
  // An extensible match, such as the bit filters of Active Directory.
  /^[A-Za-z][A-Za-z0-9-]*(?::dn)?(?::[0-9][0-9.]*)?:=(?:[^\\*()]|\\[0-7][0-9a-fA-F])*$/,
]

const isComparison = (text: string): boolean => comparisonPatterns.some((pattern) => pattern.test(text))
