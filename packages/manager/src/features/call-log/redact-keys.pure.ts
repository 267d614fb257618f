// This file recognizes the names of secrets in any spelling. Results are cached, because the keys of a body repeat.
import { percentDecoded } from './redact-decode.pure.ts'

const secrets =
  'password passwd pwd secret client_secret token access_token refresh_token id_token api_key apikey authorization ' +
  'private_key credential credentials pin cvv card_number iban ssn'
// An upstream may echo the headers that it received in a body, so these names are redacted in bodies too.
const secretHeaders = 'proxy-authorization cookie set-cookie x-api-key x-auth-token x-proxy-auth'
const names = 'key name field param parameter property header attribute variable'

// Longer names are not analyzed and count as secret.
const maxNameLength = 1_000
const plain = /^[a-z0-9]*$/
const beyondAscii = /[\u0080-\uffff]/
const beyondLatin = /[\u0300-\uffff]/
const inOnePart = /^[\w-]*$/
const partEnd = /[^\p{L}\p{N}_-]+/u
const dotted = /^[\w.[\]$-]{1,100}$/
const pointer = /^\/[\w/.~-]{1,100}$/
// No sensitive name contains letters of other scripts or combining marks. Both are expensive to normalize: marks are
// sorted, and one letter can become eighteen.
const otherLetters = /(?:(?![\p{sc=Latin}\p{sc=Common}])[\p{L}\p{N}])+/gu
const marks = /\p{M}+/gu
const otherLetter = '\u0436'

/** Returns the text in lower case, without accents and width variants, which do not distinguish names. */
export function folded(text: string): string {
  if (!beyondAscii.test(text)) return text.toLowerCase()
  const latin = beyondLatin.test(text)
    ? text.replaceAll(marks, '').replaceAll(otherLetters, otherLetter)
    : text
  return latin.normalize('NFKD').replaceAll(marks, '').toLowerCase()
}

/** Returns only the letters and digits, in lower case. Most names contain nothing else. */
function lettersOf(name: string): string {
  if (plain.test(name)) return name
  const text = folded(name)
  return beyondAscii.test(text) ? text.replaceAll(/[^\p{L}\p{N}]+/gu, '') : text.replaceAll(/[^a-z0-9]+/g, '')
}

const escape = /(?:%[0-9a-f]{2})+|(?:%u|\\u)([0-9a-f]{4})|&(?:#(x?[0-9a-f]{1,7})|(amp|lt|gt|quot|apos));/gi
const escapeStart = /[%\\&]/
const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
const maxRounds = 5

/**
 * Decodes the escapes of JSON, XML and forms, including escapes that result from decoding. Returns null if escapes
 * remain after the last round.
 */
export function unescaped(text: string): string | null {
  let resolved = text
  for (let round = 0; round < maxRounds; round++) {
    const next = escapeStart.test(resolved) ? resolved.replaceAll(escape, resolve) : resolved
    if (next === resolved) return resolved
    resolved = next
  }
  return null
}

function resolve(match: string, unit?: string, number?: string, entity?: string): string {
  if (entity !== undefined) return entities[entity.toLowerCase()] as string
  if (unit !== undefined) return String.fromCharCode(Number.parseInt(unit, 16))
  if (number === undefined) return percentDecoded(match)
  const point = /^x/i.test(number) ? Number.parseInt(number.slice(1), 16) : Number(number)
  return point <= 0x10ffff ? String.fromCodePoint(point) : '\ufffd'
}

/**
 * The role of a key: its value is a secret, the name of a sibling (`name`), or the value that a sibling names
 * (`value`).
 */
export type Meaning = 'secret' | 'name' | 'value' | 'other'

const nameWords = [
  ...names.split(' ').flatMap((name) => ['', 'name', 'key', 'id'].map((end) => name + end)),
  'k',
  'id',
  'label',
]
const secretWords = `${secrets} ${secretHeaders}`.split(' ').map(lettersOf)
const meanings = new Map<string, Meaning>([
  ...nameWords.map((name): [string, Meaning] => [name, 'name']),
  ...['v', 'val', 'values', 'content', 'text', 'data'].map((name): [string, Meaning] => [name, 'value']),
  ...secretWords.map((name): [string, Meaning] => [name, 'secret']),
])
const starts = new Set(secretWords.flatMap((word) => Array.from(word, (_, end) => word.slice(0, end))))

/** The sensitive names, and the names such as `key`, as regular expression alternatives over normalized letters. */
export const [secretPattern, namePattern] = [secretWords.join('|'), nameWords.join('|')]
const anySecret = new RegExp(secretPattern)

/** Returns whether a text contains the letters of a sensitive name in sequence. The test without folding runs first. */
export const hasSecretLetters = (text: string): boolean =>
  anySecret.test(text.toLowerCase()) || anySecret.test(lettersOf(text))

const known = new Map<string, Meaning>()
const [maxKnown, maxKnownLength] = [1_000, 64]

/**
 * Returns the meaning of a key. One sensitive part, as in `user[password]`, `a.b.api.key` or `ns:pin`, makes it secret.
 */
export function meaningOf(key: string): Meaning {
  const cached = known.get(key)
  if (cached !== undefined) return cached
  const meaning = findMeaning(key)
  if (known.size >= maxKnown) known.clear()
  if (key.length <= maxKnownLength) known.set(key, meaning)
  return meaning
}

function findMeaning(key: string): Meaning {
  const name = key.length > maxNameLength ? null : unescaped(key)
  if (name === null) return 'secret'
  const letters = lettersOf(name)
  const meaning = meanings.get(letters) ?? (letters.endsWith('value') ? 'value' : 'other')
  if (meaning === 'secret' || inOnePart.test(name) || !anySecret.test(letters)) return meaning
  const parts = name
    .split(partEnd)
    .map(lettersOf)
    .filter((part) => part !== '')
  return parts.some((_, first) => startsSecret(parts, first)) ? 'secret' : meaning
}

/** Returns whether this part, or this part joined with the following ones, is a sensitive name. */
function startsSecret(parts: readonly string[], first: number): boolean {
  let letters = ''
  for (let at = first; at < parts.length && (at === first || starts.has(letters)); at++) {
    letters += parts[at]
    if (meanings.get(letters) === 'secret') return true
  }
  return false
}

/** Returns whether the value of a key such as `name` is the name of a secret sibling. */
export const isSecretName = (value: string): boolean =>
  value.length <= 100 &&
  (meanings.get(lettersOf(value)) === 'secret' || (dotted.test(value) && meaningOf(value) === 'secret'))

/** Returns whether the value is a JSON pointer (RFC 6901) to a secret. */
export const isSecretPointer = (value: string): boolean =>
  pointer.test(value) && meaningOf(value) === 'secret'

/** Returns whether the whole value of the header is redacted. */
export const isSecretHeader = (name: string): boolean =>
  meaningOf(name) === 'secret' || /token|secret|password|signature/.test(lettersOf(name))
