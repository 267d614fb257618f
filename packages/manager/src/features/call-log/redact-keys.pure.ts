// Which names stand for a secret, in any spelling. Pure, except for a cache: the keys of a body repeat.
import { percentDecoded } from './redact-decode.pure.ts'

const secrets =
  'password passwd pwd secret client_secret token access_token refresh_token id_token api_key apikey authorization ' +
  'private_key credential credentials pin cvv card_number iban ssn'
// An upstream that repeats the headers it was sent repeats these, so they are hidden in bodies too.
const secretHeaders = 'proxy-authorization cookie set-cookie x-api-key x-auth-token x-proxy-auth'
const names = 'key name field param parameter property header attribute variable'

// A longer name is not read, and counts as a secret.
const maxNameLength = 1_000
const plain = /^[a-z0-9]*$/
const beyondAscii = /[\u0080-\uffff]/
const beyondLatin = /[\u0300-\uffff]/
const inOnePart = /^[\w-]*$/
const partEnd = /[^\p{L}\p{N}_-]+/u
const dotted = /^[\w.[\]$-]{1,100}$/
const pointer = /^\/[\w/.~-]{1,100}$/
// Letters of other scripts are in no sensitive name, and marks are not letters. Both would be long or slow to
// normalize: marks are sorted, and one letter may become eighteen.
const otherLetters = /(?:(?![\p{sc=Latin}\p{sc=Common}])[\p{L}\p{N}])+/gu
const marks = /\p{M}+/gu
const otherLetter = '\u0436'

/** The text in lower case; accents and widths do not tell names apart. */
export function folded(text: string): string {
  if (!beyondAscii.test(text)) return text.toLowerCase()
  const latin = beyondLatin.test(text)
    ? text.replaceAll(marks, '').replaceAll(otherLetters, otherLetter)
    : text
  return latin.normalize('NFKD').replaceAll(marks, '').toLowerCase()
}

/** Letters and digits only, in lower case. Most names are nothing else. */
function lettersOf(name: string): string {
  if (plain.test(name)) return name
  const text = folded(name)
  return beyondAscii.test(text) ? text.replaceAll(/[^\p{L}\p{N}]+/gu, '') : text.replaceAll(/[^a-z0-9]+/g, '')
}

const escape = /(?:%[0-9a-f]{2})+|(?:%u|\\u)([0-9a-f]{4})|&(?:#(x?[0-9a-f]{1,7})|(amp|lt|gt|quot|apos));/gi
const escapeStart = /[%\\&]/
const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
const maxRounds = 5

/** The text with the escapes of JSON, XML and forms resolved, also those that come to light; null when they do not end. */
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

/** A key holds a secret, names what is beside it, as `name` does, or holds what was named, as `value` does. */
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

/** The letters of a sensitive name, and of a name such as `key`, for patterns over letters. */
export const [secretPattern, namePattern] = [secretWords.join('|'), nameWords.join('|')]
const anySecret = new RegExp(secretPattern)

/** Whether the letters of a sensitive name are somewhere in a text, one after the other; first without folding it. */
export const hasSecretLetters = (text: string): boolean =>
  anySecret.test(text.toLowerCase()) || anySecret.test(lettersOf(text))

const known = new Map<string, Meaning>()
const [maxKnown, maxKnownLength] = [1_000, 64]

/** What a key means; a part of `user[password]`, `a.b.api.key` or `ns:pin` makes all of it secret. */
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

/** Whether this part, alone or with some that follow, is a sensitive name. */
function startsSecret(parts: readonly string[], first: number): boolean {
  let letters = ''
  for (let at = first; at < parts.length && (at === first || starts.has(letters)); at++) {
    letters += parts[at]
    if (meanings.get(letters) === 'secret') return true
  }
  return false
}

/** Whether the value of a key such as `name` is the name of a secret beside it. */
export const isSecretName = (value: string): boolean =>
  value.length <= 100 &&
  (meanings.get(lettersOf(value)) === 'secret' || (dotted.test(value) && meaningOf(value) === 'secret'))

/** Whether the value is a JSON pointer (RFC 6901) to a secret. */
export const isSecretPointer = (value: string): boolean =>
  pointer.test(value) && meaningOf(value) === 'secret'

/** Whether the value of the header is hidden as a whole. */
export const isSecretHeader = (name: string): boolean =>
  meaningOf(name) === 'secret' || /token|secret|password|signature/.test(lettersOf(name))
