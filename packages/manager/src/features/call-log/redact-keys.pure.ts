// Which names stand for a secret, in any spelling. Pure.
import type { Spend } from './redact-work.pure.ts'

const secrets =
  'password passwd pwd secret client_secret token access_token refresh_token id_token api_key apikey authorization ' +
  'private_key credential credentials pin cvv card_number iban ssn'
// An upstream that repeats the headers it was sent repeats these, so they are hidden in bodies too.
const secretHeaders = 'proxy-authorization cookie set-cookie x-api-key x-auth-token x-proxy-auth'
const names = 'key name field param parameter property header attribute variable'

/** More than any sensitive name has. */
export const maxLetters = 24
// A longer name is not read, and taken for a sensitive one.
const maxNameLength = 1_000
const plain = /^[a-z0-9]*$/
const asciiLetters = Array.from({ length: 128 }, (_, code) =>
  String.fromCharCode(code)
    .toLowerCase()
    .replace(/[^a-z0-9]/, ''),
)
const beyondAscii = /[\u0080-\uffff]/
const inOnePart = /^[\w-]*$/
const partEnd = /[^\p{L}\p{N}_-]+/u
const dotted = /^[\w.[\]$-]{1,100}$/
// Letters of other scripts become none of a sensitive name, and marks are no letters. Both would be long or slow to
// normalize: marks are sorted then, and one letter may become eighteen.
const otherLetters = /(?:(?![\p{sc=Latin}\p{sc=Common}])[\p{L}\p{N}])+/gu
const beyondLatin = /[\u0300-\uffff]/
const marks = /\p{M}+/gu
const otherLetter = '\u0436'
const [costOfPlain, costOfAscii, costOfLatin, costOfOther, costOfPart] = [40, 8, 400, 900, 40]
const pointer = /^\/[\w/.~-]{1,100}$/

/** Letters and digits alone, in lower case; accents and widths do not tell names apart. */
export function lettersOf(name: string, spend: Spend): string {
  if (plain.test(name)) {
    spend(costOfPlain)
    return name
  }
  if (!beyondAscii.test(name)) {
    spend(costOfPlain + name.length * costOfAscii)
    return asciiLettersOf(name)
  }
  const isLatin = !beyondLatin.test(name)
  spend(isLatin ? costOfLatin + name.length * 20 : costOfOther + name.length * 40)
  const latin = isLatin ? name : name.replaceAll(marks, '').replaceAll(otherLetters, otherLetter)
  return latin
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '')
}

function asciiLettersOf(text: string): string {
  if (text.length > maxNameLength) return text.toLowerCase().replaceAll(/[^a-z0-9]+/g, '')
  let letters = ''
  for (let at = 0; at < text.length; at++) letters += asciiLetters[text.charCodeAt(at)] as string
  return letters
}

/** A key holds a secret, names what is beside it, as `name` does, or holds what was named, as `value` does. */
export type Meaning = 'secret' | 'name' | 'value' | 'other'

const meanings = new Map<string, Meaning>([
  ...names
    .split(' ')
    .flatMap((name) => ['', 'name', 'key', 'id'].map((end): [string, Meaning] => [name + end, 'name'])),
  ...['k', 'id', 'label'].map((name): [string, Meaning] => [name, 'name']),
  ...['v', 'val', 'values', 'content', 'text', 'data'].map((name): [string, Meaning] => [name, 'value']),
  ...`${secrets} ${secretHeaders}`
    .split(' ')
    .map((name): [string, Meaning] => [asciiLettersOf(name), 'secret']),
])

const secretLetters = [...meanings].filter(([, meaning]) => meaning === 'secret').map(([letters]) => letters)
const anySecret = new RegExp(secretLetters.join('|'))
const beginnings = new Set(
  secretLetters.flatMap((letters) => Array.from(letters, (_, end) => letters.slice(0, end))),
)

/** Whether the letters of a sensitive name are somewhere in an ASCII text, one after the other. */
export const hasSecretLetters = (text: string): boolean => anySecret.test(asciiLettersOf(text))

/** What a key of these letters means. */
export const meaningOfLetters = (letters: string): Meaning =>
  meanings.get(letters) ?? (letters.endsWith('value') ? 'value' : 'other')

/** What a key means; a part of `user[password]`, `a.b.api.key` or `ns:pin` makes all of it secret. */
export function meaningOf(key: string, spend: Spend): Meaning {
  if (key.length > maxNameLength) return 'secret'
  const letters = lettersOf(key, spend)
  const meaning = meaningOfLetters(letters)
  if (meaning === 'secret' || inOnePart.test(key) || !anySecret.test(letters)) return meaning
  spend(key.length * costOfPart)
  const parts = key
    .split(partEnd)
    .map((part) => lettersOf(part, spend))
    .filter((part) => part !== '')
  return parts.some((_, first) => beginsSecret(parts, first)) ? 'secret' : meaning
}

/** Whether this part, alone or with some that follow, is a sensitive name. */
function beginsSecret(parts: readonly string[], first: number): boolean {
  let letters = ''
  for (let at = first; at < parts.length && (at === first || beginnings.has(letters)); at++) {
    letters += parts[at]
    if (meanings.get(letters) === 'secret') return true
  }
  return false
}

/** Whether the value of a key such as `name` is the name of a secret beside it. */
export const isSecretName = (value: string, spend: Spend): boolean =>
  value.length <= 100 &&
  (meanings.get(lettersOf(value, spend)) === 'secret' ||
    (dotted.test(value) && meaningOf(value, spend) === 'secret'))

/** Whether the value is a JSON pointer (RFC 6901) to a secret. */
export const isSecretPointer = (value: string, spend: Spend): boolean =>
  pointer.test(value) && meaningOf(value, spend) === 'secret'

/** Whether the value of the header is hidden as a whole. */
export const isSecretHeader = (name: string, spend: Spend): boolean =>
  meaningOf(name, spend) === 'secret' || /token|secret|password|signature/.test(lettersOf(name, spend))
