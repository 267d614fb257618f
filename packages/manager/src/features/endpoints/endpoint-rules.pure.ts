// These rules validate the URLs and credentials of an endpoint. Each function returns a description of the
// problem, or null.
import { hasForbiddenCharacters, isLongerThan } from '../../platform/inputs/inputs.ts'

const maxLength = 500
const maxUsernameLength = 200
const maxSecretLength = 4_096

/** Checks the path that callers use: it must start with a slash and must not be ambiguous. */
export function findConsumeUrlProblem(value: string): string | null {
  if (!value.startsWith('/') || value.startsWith('//'))
    return 'consumeURL must be a path that starts with a single /, such as /orders; it must not be an absolute URL'
  if (value.length > maxLength) return `consumeURL must have at most ${maxLength} characters`
  if (value.includes('..')) return 'consumeURL must not contain ..'
  if (/\s/.test(value)) return 'consumeURL must not contain whitespace'
  if (/[?#\\]/.test(value)) return 'consumeURL is a path: it must not contain ?, # or a backslash'
  // No other characters are allowed in a request line.
  if (!/^[\x21-\x7e]+$/.test(value))
    return 'consumeURL must contain only ASCII characters; encode other characters as %XX'
  return isDecodable(value) ? null : 'consumeURL must contain only % escapes of valid UTF-8'
}

/**
 * Returns whether the path can be decoded. The server would reject any other path as malformed before it matches the
 * routes.
 */
function isDecodable(value: string): boolean {
  try {
    decodeURIComponent(value)
    return true
  } catch {
    return false
  }
}

/** Checks the target URL of forwarded calls. */
export function findUrlProblem(value: string): string | null {
  if (value.length > maxLength) return `url must have at most ${maxLength} characters`
  const url = URL.canParse(value) ? new URL(value) : null
  if (url === null || !/^https?:\/\/[^/?#]/i.test(value) || url.hostname === '')
    return 'url must be an absolute http or https URL with a host, such as https://partner.example/orders'
  if (!/^[\x21-\x7e]+$/.test(value) || value.includes('\\'))
    return 'url must contain only ASCII characters, without spaces or backslashes; encode other characters'
  if (/^https?:\/\/[^/?#]*@/i.test(value))
    return 'url must not contain a user name or password; use authType, authUsername and authPassword'
  return value.includes('#') ? 'url must not contain a fragment' : null
}

/** Checks the user name. It must not contain a colon, because a colon ends the user name in Basic authentication. */
export function findUsernameProblem(value: string): string | null {
  if (value.includes(':')) return 'authUsername must not contain a colon'
  if (isLongerThan(value, maxUsernameLength))
    return `authUsername must have at most ${maxUsernameLength} characters`
  return hasForbiddenCharacters(value)
    ? 'authUsername must not contain control characters or malformed Unicode'
    : null
}

/** Checks a password or token, which becomes part of a header. */
export const findSecretProblem = (value: string, field: 'authPassword' | 'authToken'): string | null =>
  value.length > maxSecretLength || hasForbiddenCharacters(value) || /[\r\n]/.test(value)
    ? `${field} must have at most ${maxSecretLength} characters, without control characters`
    : null
