// Recognizes the names of secrets in any spelling. Results are cached, because the same keys occur many times
// in a body.
import { decodePercentEscapes } from './redact-decode.pure.ts'

const secretNames =
  'password passwd pwd secret client_secret token access_token refresh_token id_token api_key apikey authorization ' +
  'private_key credential credentials pin cvv card_number iban ssn'
// An upstream may echo received headers in a body, so these names are redacted in bodies too.
const secretHeaders = 'proxy-authorization cookie set-cookie x-api-key x-auth-token x-proxy-auth'
const nameKeys = 'key name field param parameter property header attribute variable'

// Longer names are not analyzed; they count as secret.
const maxNameLength = 1_000
const plainName = /^[a-z0-9]*$/
const nonAsciiPattern = /[\u0080-\uffff]/
const nonLatinPattern = /[\u0300-\uffff]/
const singlePart = /^[\w-]*$/
const partEnd = /[^\p{L}\p{N}_-]+/u
const dottedPath = /^[\w.[\]$-]{1,100}$/
const jsonPointer = /^\/[\w/.~-]{1,100}$/
// No sensitive name contains letters of other scripts or combining marks. Such letters and marks are
// expensive to normalize: marks are sorted, and one letter can expand to eighteen.
const otherLetters = /(?:(?![\p{sc=Latin}\p{sc=Common}])[\p{L}\p{N}])+/gu
const combiningMarks = /\p{M}+/gu
const otherLetter = '\u0436'

/**
 * Returns the text in lower case. Accents and width variants are removed, because they are irrelevant for
 * comparing names.
 */
export function foldText(text: string): string {
  if (!nonAsciiPattern.test(text)) return text.toLowerCase()
  const latinText = nonLatinPattern.test(text)
    ? text.replaceAll(combiningMarks, '').replaceAll(otherLetters, otherLetter)
    : text
  return latinText.normalize('NFKD').replaceAll(combiningMarks, '').toLowerCase()
}

/** Returns only the letters and digits, in lower case. Most names contain nothing else. */
function extractLetters(name: string): string {
  if (plainName.test(name)) return name
  const text = foldText(name)
  return nonAsciiPattern.test(text)
    ? text.replaceAll(/[^\p{L}\p{N}]+/gu, '')
    : text.replaceAll(/[^a-z0-9]+/g, '')
}

const escape = /(?:%[0-9a-f]{2})+|(?:%u|\\u)([0-9a-f]{4})|&(?:#(x?[0-9a-f]{1,7})|(amp|lt|gt|quot|apos));/gi
const escapeStart = /[%\\&]/
const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
const maxRounds = 5

/**
 * Decodes the escapes of JSON, XML and forms, including escapes that result from decoding. Returns null if escapes
 * remain after the last round.
 */
export function decodeEscapes(text: string): string | null {
  let decodedText = text
  for (let round = 0; round < maxRounds; round++) {
    const nextText = escapeStart.test(decodedText)
      ? decodedText.replaceAll(escape, resolveEscape)
      : decodedText
    if (nextText === decodedText) return decodedText
    decodedText = nextText
  }
  return null
}

function resolveEscape(match: string, unit?: string, number?: string, entity?: string): string {
  if (entity !== undefined) return entities[entity.toLowerCase()] as string
  if (unit !== undefined) return String.fromCharCode(Number.parseInt(unit, 16))
  if (number === undefined) return decodePercentEscapes(match)
  const codePoint = /^x/i.test(number) ? Number.parseInt(number.slice(1), 16) : Number(number)
  return codePoint <= 0x10ffff ? String.fromCodePoint(codePoint) : '\ufffd'
}

/**
 * The role of a key: its value is a secret, the name of a sibling (`name`), or the value that a sibling names
 * (`value`).
 */
export type Meaning = 'secret' | 'name' | 'value' | 'other'

const nameWords = [
  ...nameKeys.split(' ').flatMap((name) => ['', 'name', 'key', 'id'].map((end) => name + end)),
  'k',
  'id',
  'label',
]
const secretWords = `${secretNames} ${secretHeaders}`.split(' ').map(extractLetters)
const meanings = new Map<string, Meaning>([
  ...nameWords.map((name): [string, Meaning] => [name, 'name']),
  ...['v', 'val', 'values', 'content', 'text', 'data'].map((name): [string, Meaning] => [name, 'value']),
  ...secretWords.map((name): [string, Meaning] => [name, 'secret']),
])
const secretPrefixes = new Set(
  secretWords.flatMap((word) => Array.from(word, (_, end) => word.slice(0, end))),
)

/**
 * The sensitive names, and the names such as `key`, as regular expression alternatives that match normalized
 * letters.
 */
export const [secretPattern, namePattern] = [secretWords.join('|'), nameWords.join('|')]
const anySecret = new RegExp(secretPattern)

/**
 * Returns whether the text contains the letters of a sensitive name in sequence. The cheap test without
 * folding runs first.
 */
export const hasSecretLetters = (text: string): boolean =>
  anySecret.test(text.toLowerCase()) || anySecret.test(extractLetters(text))

const meaningByKey = new Map<string, Meaning>()
const [maxCachedKeys, maxCachedKeyLength] = [1_000, 64]

/**
 * Returns the meaning of a key. A key is secret if one of its parts is sensitive, as in `user[password]`,
 * `a.b.api.key` or `ns:pin`.
 */
export function getMeaning(key: string): Meaning {
  const cached = meaningByKey.get(key)
  if (cached !== undefined) return cached
  const meaning = findMeaning(key)
  if (meaningByKey.size >= maxCachedKeys) meaningByKey.clear()
  if (key.length <= maxCachedKeyLength) meaningByKey.set(key, meaning)
  return meaning
}

function findMeaning(key: string): Meaning {
  const name = key.length > maxNameLength ? null : decodeEscapes(key)
  if (name === null) return 'secret'
  const letters = extractLetters(name)
  const meaning = meanings.get(letters) ?? (letters.endsWith('value') ? 'value' : 'other')
  if (meaning === 'secret' || singlePart.test(name) || !anySecret.test(letters)) return meaning
  const parts = name
    .split(partEnd)
    .map(extractLetters)
    .filter((part) => part !== '')
  return parts.some((_, first) => startsSecretName(parts, first)) ? 'secret' : meaning
}

/** Returns whether this part, alone or joined with the following parts, is a sensitive name. */
function startsSecretName(parts: readonly string[], first: number): boolean {
  let letters = ''
  for (let at = first; at < parts.length && (at === first || secretPrefixes.has(letters)); at++) {
    letters += parts[at]
    if (meanings.get(letters) === 'secret') return true
  }
  return false
}

/** Returns whether the value of a key such as `name` is the name of a secret sibling. */
export const isSecretName = (value: string): boolean =>
  value.length <= 100 &&
  (meanings.get(extractLetters(value)) === 'secret' ||
    (dottedPath.test(value) && getMeaning(value) === 'secret'))

/** Returns whether the value is a JSON pointer (RFC 6901) to a secret. */
export const isSecretPointer = (value: string): boolean =>
  jsonPointer.test(value) && getMeaning(value) === 'secret'

/** Returns whether the whole value of the header is redacted. */
export const isSecretHeader = (name: string): boolean =>
  getMeaning(name) === 'secret' || /token|secret|password|signature/.test(extractLetters(name))
