// Redacts embedded text, header values and queries. JSON, XML, forms and URLs are parsed. Other text is
// shown, or redacted completely if it may contain a secret.
import { type Budget, type RedactionContext, spend, tryParse } from './redact-budget.pure.ts'
import { redactAddress, redactForm } from './redact-form.pure.ts'
import { redactJson } from './redact-json.pure.ts'
import {
  foldText,
  hasSecretLetters,
  isSecretName,
  getMeaning,
  namePattern,
  secretPattern,
  decodeEscapes,
} from './redact-keys.pure.ts'
import { redactionMarker } from './redact-spans.pure.ts'
import { redactXml } from './redact-xml.pure.ts'

// Maximum nesting depth of embedded text. Deeper text is not parsed.
const maxDepth = 5
// Starting a JSON or XML parser costs as much as reading this many values, even if the text does not parse.
const parserCost = 16

const parsers = { json: redactJson, xml: redactXml, form: redactForm, address: redactAddress }

// JSON can start with a separator (RFC 7464).
// oxlint-disable-next-line no-control-regex -- the separator is a control character
const jsonStart = /^[\s\ufeff\x1e]*["[{]/
const xmlStart = /^[\s\ufeff]*</
const urlStart = /^(?:[a-z][a-z0-9+.-]*:\/\/|\/)[^?#]*[?#]/i
// A form contains no whitespace, quotes or tags, and has a pair with a name and a value. `aGVsbG8=` is not a form.
const formText = /^[^\s"<>]+$/
const pair = /(?:^|&)[\w.[\]%+-]{1,200}=[^&=]/

/** Selects the parser by the text itself, because the sender chooses the `Content-Type`. */
function detectKind(text: string): keyof typeof parsers | 'text' {
  if (jsonStart.test(text)) return 'json'
  if (xmlStart.test(text)) return 'xml'
  if (!formText.test(text)) return 'text'
  return urlStart.test(text) ? 'address' : pair.test(text) ? 'form' : 'text'
}

/** Redacts a body. Returns null if it is not JSON, XML or a form. Throws if it exceeds the budget. */
export function redactDocument(text: string, budget: Budget, isTruncated: boolean): string | null {
  const kind = detectKind(text)
  if (kind === 'text' || kind === 'address') return null
  // Most bodies contain no secret. For such bodies, it is enough to check that they are valid JSON, which is faster.
  if (kind === 'json' && !isTruncated && canSkipParsing(text) && isJson(text)) return text
  return tryParse(() => parsers[kind](text, createContext(budget, 1, isTruncated)))
}

const isJson = (text: string): boolean => tryParse(() => JSON.parse(text) as unknown) !== null

const createContext = (budget: Budget, depth: number, isTruncated: boolean): RedactionContext => ({
  isTruncated,
  spend: () => spend(budget),
  redactInner: (text) => redactText(text, budget, depth),
})

/** Redacts the secrets in the query of a URL. */
export const redactUrlQuery = (url: string, budget: Budget): string =>
  redactAddress(url, createContext(budget, 1, false))

/** Redacts text. Throws if it exceeds the budget. */
export function redactText(text: string, budget: Budget, depth = 0): string {
  if (canSkipParsing(text)) return text
  const kind = detectKind(text)
  if (kind !== 'text' && depth >= maxDepth) return redactionMarker
  if (
    kind === 'address' &&
    isSuspicious(text.replace(/^[a-z0-9+.-]+:\/\/[^/?#]*/i, '').replace(/[?#].*/, ''))
  )
    return redactionMarker
  spend(budget, kind === 'json' || kind === 'xml' ? parserCost : 1)
  const redactedText =
    kind === 'text' ? null : tryParse(() => parsers[kind](text, createContext(budget, depth + 1, false)))
  return redactedText ?? (isSuspicious(text) ? redactionMarker : text)
}

const structurePattern = /[=:\uff1d\uff1a<{[%&\\\r\n@]|bearer|basic|-----BEGIN/i
// Matches characters that occur in escaped names, and the start of secrets that have no name.
const namelessPattern = /[%&\\@]|<[!?]|bearer|basic|-----BEGIN/i

/**
 * Returns whether the text needs no parsing: it has no structure, or it has neither letters of a sensitive
 * name nor escapes.
 */
const canSkipParsing = (text: string): boolean =>
  !structurePattern.test(text) || (!namelessPattern.test(text) && !hasSecretLetters(text))

// These patterns match secrets without a name, and comments, which can contain anything.
const unnamedSecrets = [
  /\b(?:bearer|basic)\s+(?!(?:realm|charset|scope|error(?:_description)?)=)\S/i,
  /:\/\/[^\s/?#"'<>]*@/,
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----/,
  /<[!?]/,
]
const wordEnd = /[\s"'<>&\\]+/
const [maxPathLength, maxHeadLength] = [200, 4_096]
const structure = /\{|<[!?/\p{L}_:]|\[\s*["']|^\s*["[<]/u
const secretAssignmentPattern = new RegExp(`(?:${secretPattern})=`)
const nameAssignmentPattern = new RegExp(`(?:${namePattern})=`)
const maxNamedLength = 120

/**
 * Returns whether the letters contain `password=`, or a pair such as `name=userpassword`, which names a
 * neighboring value.
 */
const hasSecretName = (letters: string): boolean =>
  secretAssignmentPattern.test(letters) ||
  (nameAssignmentPattern.test(letters) && hasNamedSecret(letters.split(/=+/)))

const hasNamedSecret = (parts: string[]): boolean =>
  parts.some(
    (part, index) =>
      nameAssignmentPattern.test(`${parts[index - 1]?.slice(-maxNamedLength) ?? ''}=`) &&
      hasSecretLetters(part.slice(0, maxNamedLength)),
  )

/**
 * Returns whether unparsable text may contain a secret: a credential, a comment or a sensitive name. Names are
 * searched for before `:` or `=`, in a table header, and anywhere in text that resembles broken JSON or XML.
 */
function isSuspicious(text: string): boolean {
  const decodedText = decodeEscapes(text)
  if (decodedText === null || unnamedSecrets.some((pattern) => pattern.test(decodedText))) return true
  if (!hasSecretLetters(decodedText)) return false
  const letters = foldText(decodedText)
    .replaceAll(/[:=]/g, '=')
    .replaceAll(/[^\p{L}\p{N}=]+/gu, '')
  return (
    hasSecretName(letters) ||
    structure.test(decodedText) ||
    hasSecretPath(decodedText) ||
    hasSecretColumn(decodedText)
  )
}

/** Returns whether a sensitive name with several parts, such as `user[password][0`, precedes `:` or `=`. */
const hasSecretPath = (text: string): boolean =>
  text
    .split(/[:=]/)
    .slice(0, -1)
    .some((before) => getMeaning(getLastWord(before.slice(-maxPathLength))) === 'secret')
const getLastWord = (text: string): string => text.split(wordEnd).findLast((word) => word !== '') ?? ''

/** Returns whether the first of several lines is a table header with a secret column. */
function hasSecretColumn(text: string): boolean {
  const [line = ''] = /^\s*[^\r\n]*/.exec(text) ?? []
  const cells = line.slice(0, maxHeadLength).split(/[,;\t|]/)
  const isTable = line.length < text.length && cells.length > 1
  return isTable && cells.some((cell) => isSecretName(cell.replaceAll(/["'\s]/g, '')))
}
