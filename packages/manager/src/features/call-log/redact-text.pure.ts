// What is shown of a text inside a body, of the value of a header and of a query: JSON, XML, forms and addresses are
// parsed; other text is shown unless it may hold a secret, and then nothing of it is. Pure.
import { type Budget, type Look, parsed, spend } from './redact-budget.pure.ts'
import { redactAddress, redactForm } from './redact-form.pure.ts'
import { redactJson } from './redact-json.pure.ts'
import {
  folded,
  hasSecretLetters,
  isSecretName,
  meaningOf,
  namePattern,
  secretPattern,
  unescaped,
} from './redact-keys.pure.ts'
import { redacted } from './redact-spans.pure.ts'
import { redactXml } from './redact-xml.pure.ts'

// More texts inside texts are not parsed.
const maxDepth = 5
// Opening a parser of JSON or XML costs as much as reading so many values, also when the text does not parse.
const parserCost = 16

const parsers = { json: redactJson, xml: redactXml, form: redactForm, address: redactAddress }

// JSON texts may have a mark in front (RFC 7464).
// oxlint-disable-next-line no-control-regex -- the mark is a control character
const jsonStart = /^[\s\ufeff\x1e]*["[{]/
const xmlStart = /^[\s\ufeff]*</
const address = /^(?:[a-z][a-z0-9+.-]*:\/\/|\/)[^?#]*[?#]/i
// A form without blanks, quotes and tags, with a pair that has a name and a value: `aGVsbG8=` is none.
const pairs = /^[^\s"<>]+$/
const pair = /(?:^|&)[\w.[\]%+-]{1,200}=[^&=]/

/** The parser for a text, by what the text looks like: its sender chooses the `Content-Type`. */
function kindOf(text: string): keyof typeof parsers | 'text' {
  if (jsonStart.test(text)) return 'json'
  if (xmlStart.test(text)) return 'xml'
  if (!pairs.test(text)) return 'text'
  return address.test(text) ? 'address' : pair.test(text) ? 'form' : 'text'
}

/** A body with what is secret replaced; null when it is not JSON, XML or a form. Throws when it exceeds the budget. */
export function showDocument(text: string, budget: Budget, isCut: boolean): string | null {
  const kind = kindOf(text)
  if (kind === 'text' || kind === 'address') return null
  // Most bodies have nothing to hide; then it is enough, and faster, to know that they parse.
  if (kind === 'json' && !isCut && isHarmless(text) && isJson(text)) return text
  return parsed(() => parsers[kind](text, lookOf(budget, 1, isCut)))
}

const isJson = (text: string): boolean => parsed(() => JSON.parse(text) as unknown) !== null

const lookOf = (budget: Budget, depth: number, isCut: boolean): Look => ({
  isCut,
  spend: () => spend(budget),
  inside: (text) => showText(text, budget, depth),
})

/** An address with what is secret in its query replaced. */
export const showAddress = (url: string, budget: Budget): string =>
  redactAddress(url, lookOf(budget, 1, false))

/** A text with what is secret replaced. Throws when it exceeds the budget. */
export function showText(text: string, budget: Budget, depth = 0): string {
  if (isHarmless(text)) return text
  const kind = kindOf(text)
  if (kind !== 'text' && depth >= maxDepth) return redacted
  if (
    kind === 'address' &&
    isSuspicious(text.replace(/^[a-z0-9+.-]+:\/\/[^/?#]*/i, '').replace(/[?#].*/, ''))
  )
    return redacted
  spend(budget, kind === 'json' || kind === 'xml' ? parserCost : 1)
  const shown = kind === 'text' ? null : parsed(() => parsers[kind](text, lookOf(budget, depth + 1, false)))
  return shown ?? (isSuspicious(text) ? redacted : text)
}

const signs = /[=:\uff1d\uff1a<{[%&\\\r\n@]|bearer|basic|-----BEGIN/i
// Where names may be escaped, or secrets have no name.
const nameless = /[%&\\@]|<[!?]|bearer|basic|-----BEGIN/i

/** Whether a text needs no parsing: it has no sign of structure, or no letters of a name and no escapes. */
const isHarmless = (text: string): boolean =>
  !signs.test(text) || (!nameless.test(text) && !hasSecretLetters(text))

// Secrets without a name, and comments, which may hold anything.
const unnamed = [
  /\b(?:bearer|basic)\s+(?!(?:realm|charset|scope|error(?:_description)?)=)\S/i,
  /:\/\/[^\s/?#"'<>]*@/,
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----/,
  /<[!?]/,
]
const wordEnd = /[\s"'<>&\\]+/
const [maxPathLength, maxHeadLength] = [200, 4_096]
const structure = /\{|<[!?/\p{L}_:]|\[\s*["']|^\s*["[<]/u
const secretBeforeSign = new RegExp(`(?:${secretPattern})=`)
const nameBeforeSign = new RegExp(`(?:${namePattern})=`)
const maxNamedLength = 120

/** Whether letters contain `password=`, or `name=userpassword`, which names the value beside it. */
const hasSecretName = (letters: string): boolean =>
  secretBeforeSign.test(letters) || (nameBeforeSign.test(letters) && namesSecret(letters.split(/=+/)))

const namesSecret = (parts: string[]): boolean =>
  parts.some(
    (part, index) =>
      nameBeforeSign.test(`${parts[index - 1]?.slice(-maxNamedLength) ?? ''}=`) &&
      hasSecretLetters(part.slice(0, maxNamedLength)),
  )

/**
 * Whether a text that is not parsed may hold a secret: a credential, a comment, a sensitive name before `:` or `=` or in
 * the head of a table, or anywhere in what looks like broken JSON or XML.
 */
function isSuspicious(text: string): boolean {
  const plain = unescaped(text)
  if (plain === null || unnamed.some((pattern) => pattern.test(plain))) return true
  if (!hasSecretLetters(plain)) return false
  const letters = folded(plain)
    .replaceAll(/[:=]/g, '=')
    .replaceAll(/[^\p{L}\p{N}=]+/gu, '')
  return hasSecretName(letters) || structure.test(plain) || hasSecretPath(plain) || hasSecretColumn(plain)
}

/** Whether a name of several parts, such as `user[password][0`, is in front of `:` or `=`. */
const hasSecretPath = (text: string): boolean =>
  text
    .split(/[:=]/)
    .slice(0, -1)
    .some((before) => meaningOf(lastWord(before.slice(-maxPathLength))) === 'secret')
const lastWord = (text: string): string => text.split(wordEnd).findLast((word) => word !== '') ?? ''

/** Whether the first of several lines names a secret column. */
function hasSecretColumn(text: string): boolean {
  const [line = ''] = /^\s*[^\r\n]*/.exec(text) ?? []
  const cells = line.slice(0, maxHeadLength).split(/[,;\t|]/)
  const isTable = line.length < text.length && cells.length > 1
  return isTable && cells.some((cell) => isSecretName(cell.replaceAll(/["'\s]/g, '')))
}
