// What an endpoint's addresses and credentials may look like. Pure: each function returns a text that says what is wrong, or
// null.
import { hasForbiddenCharacters, isLongerThan } from '../../platform/inputs/inputs.ts'

const maxLength = 500
const maxUsernameLength = 200
const maxSecretLength = 4_096

/** The path callers use: rooted, unchanged, without anything that could be read in two ways. */
export function problemOfConsumeUrl(value: string): string | null {
  if (!value.startsWith('/') || value.startsWith('//'))
    return 'consumeURL must be a path that starts with a single /, such as /orders; it is no absolute URL'
  if (value.length > maxLength) return `consumeURL must have at most ${maxLength} characters`
  if (value.includes('..')) return 'consumeURL must not contain ..'
  if (/\s/.test(value)) return 'consumeURL must not contain whitespace'
  if (/[?#\\]/.test(value)) return 'consumeURL is a path: it must not contain ?, # or a backslash'
  // A request line holds no others.
  if (!/^[\x21-\x7e]+$/.test(value))
    return 'consumeURL must be written in ASCII; encode other characters as %XX'
  return isDecodable(value) ? null : 'consumeURL must not contain a % that encodes no UTF-8 character'
}

/** What does not decode is refused as malformed before it is looked at. */
function isDecodable(value: string): boolean {
  try {
    decodeURIComponent(value)
    return true
  } catch {
    return false
  }
}

/** The target of forwarded calls. */
export function problemOfUrl(value: string): string | null {
  if (value.length > maxLength) return `url must have at most ${maxLength} characters`
  const url = URL.canParse(value) ? new URL(value) : null
  if (url === null || !/^https?:\/\/[^/?#]/i.test(value) || url.hostname === '')
    return 'url must be an absolute http or https URL with a host, such as https://partner.example/orders'
  if (!/^[\x21-\x7e]+$/.test(value) || value.includes('\\'))
    return 'url must be written in ASCII without blanks or backslashes; encode other characters'
  if (/^https?:\/\/[^/?#]*@/i.test(value))
    return 'url must not contain a user name or password; use authType, authUsername and authPassword'
  return value.includes('#') ? 'url must not contain a fragment' : null
}

/** Basic authentication ends the user name at the first colon. */
export function problemOfUsername(value: string): string | null {
  if (value.includes(':')) return 'authUsername must not contain a colon'
  if (isLongerThan(value, maxUsernameLength))
    return `authUsername must have at most ${maxUsernameLength} characters`
  return hasForbiddenCharacters(value)
    ? 'authUsername must not contain control characters or broken Unicode'
    : null
}

/** A password or a token, which goes into a header. */
export const problemOfSecret = (value: string, field: 'authPassword' | 'authToken'): string | null =>
  value.length > maxSecretLength || hasForbiddenCharacters(value) || /[\r\n]/.test(value)
    ? `${field} must have at most ${maxSecretLength} characters, none of them a control character`
    : null
