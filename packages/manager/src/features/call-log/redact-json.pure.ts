// Redacts secrets in a JSON value, or in a sequence of JSON values. A tokenizer reads the text, and this
// module validates the order of the tokens. It keeps its own stack, so deep nesting does not cause recursion.
import { Tokenizer, TokenType } from '@streamparser/json'
import type { RedactionContext } from './redact-budget.pure.ts'
import { isSecretName, isSecretPointer, type Meaning, getMeaning } from './redact-keys.pure.ts'
import { type Range, redactionMarker, replaceSpans, type Span } from './redact-spans.pure.ts'

type OpenValue = {
  start: number
  isObject: boolean
  /** Whether this object or array is inside the value of a secret. */
  isHidden: boolean
  key: string
  meaning: Meaning
  hasName: boolean
  /** Whether a member or the last element names a secret, as in `{"name": "pin", "value": 1}` or `["pin", 1]`. */
  namesSecret: boolean
  /** Whether a member `path` points to a secret, as in a JSON patch. */
  pointsToSecret: boolean
  /** The members whose secrecy a sibling can reveal by naming them, and the subset that is called `value`. */
  members: Range[]
  values: Range[]
}
type ExpectedToken = 'key' | 'keyOrEnd' | 'colon' | 'value' | 'valueOrEnd' | 'next'
type Reader = {
  bytes: Buffer
  context: RedactionContext
  spans: Span[]
  open: OpenValue[]
  expected: ExpectedToken
  /** The scalar or key before the current token. Its end is known only when the next token starts. */
  last: (Range & { isKey: boolean }) | null
  /** The offset of the end of the last complete value. */
  end: number
}
type Token = { token: TokenType; value: unknown; offset: number }

const separatorTokens = new Set([
  TokenType.COLON,
  TokenType.COMMA,
  TokenType.RIGHT_BRACE,
  TokenType.RIGHT_BRACKET,
])
const byteOrderMark = Buffer.from('\ufeff')
const blanks = new Set(Buffer.from(' \t\r\n'))

/**
 * Redacts the secrets in JSON. The result for truncated JSON ends after the last complete value. Throws if
 * the text is not JSON.
 */
export function redactJson(text: string, context: RedactionContext): string {
  // JSON can start with a byte order mark (U+FEFF), and JSON values can have separators between them (RFC
  // 7464).
  const bytes = Buffer.from(text.replace(/^\ufeff/, '').replaceAll('\x1e', ' '))
  const reader: Reader = { bytes, context, spans: [], open: [], expected: 'value', last: null, end: 0 }
  const tokenizer = new Tokenizer({ separator: '' })
  tokenizer.onToken = (token) => {
    setLastEnd(reader, token.offset)
    readToken(reader, token)
  }
  // The tokenizer ignores the first byte order mark wherever it is, and does not count its bytes in the offsets of the
  // tokens. After this one, any other mark outside of a string is an error.
  tokenizer.write(byteOrderMark)
  tokenizer.write(bytes)
  if (context.isTruncated) closeTruncatedValues(reader)
  else {
    tokenizer.end()
    setLastEnd(reader, bytes.length)
    if (reader.open.length > 0 || reader.expected !== 'value') throw new Error('the JSON is not complete')
  }
  if (reader.end === 0) throw new Error('no JSON value is complete')
  if (reader.spans.length === 0 && !context.isTruncated) return text
  return replaceSpans(
    (start, end) => bytes.toString('utf8', start, end),
    context.isTruncated ? reader.end : bytes.length,
    reader.spans,
  )
}

/** Sets the end of the last scalar or key, when the next token starts. */
function setLastEnd(reader: Reader, at: number): void {
  const { last, bytes } = reader
  if (last === null) return
  last.end = at
  while (blanks.has(bytes[last.end - 1] as number)) last.end--
  if (!last.isKey) reader.end = last.end
  reader.last = null
}

function readToken(reader: Reader, { token, value, offset }: Token): void {
  const { expected } = reader
  const top = reader.open.at(-1)
  const expectsKey = expected === 'key' || expected === 'keyOrEnd'
  if (token === TokenType.STRING && expectsKey)
    return readKey(reader, top as OpenValue, value as string, offset)
  if (token === TokenType.COLON && expected === 'colon') reader.expected = 'value'
  else if (token === TokenType.COMMA && expected === 'next')
    reader.expected = top?.isObject === true ? 'key' : 'value'
  else if (token === TokenType.RIGHT_BRACE && (expected === 'keyOrEnd' || expected === 'next'))
    close(reader, true, offset)
  else if (token === TokenType.RIGHT_BRACKET && (expected === 'valueOrEnd' || expected === 'next'))
    close(reader, false, offset)
  else if ((expected !== 'value' && expected !== 'valueOrEnd') || separatorTokens.has(token))
    throw new Error('the text is not JSON')
  else readValue(reader, { token, value, offset })
}

function readKey(reader: Reader, top: OpenValue, key: string, start: number): void {
  const range = { start, end: start, isKey: true }
  top.key = key
  top.meaning = getMeaning(key)
  reader.last = range
  reader.expected = 'colon'
  if (!top.isHidden) redactString(reader, range, key)
}

function readValue(reader: Reader, { token, value, offset: start }: Token): void {
  const top = reader.open.at(-1)
  reader.context.spend()
  if (token === TokenType.LEFT_BRACE || token === TokenType.LEFT_BRACKET) {
    const isObject = token === TokenType.LEFT_BRACE
    const isHidden = top !== undefined && (top.isHidden || isSecretValue(top))
    reader.open.push(createOpenValue(start, isObject, isHidden))
    reader.expected = isObject ? 'keyOrEnd' : 'valueOrEnd'
    return
  }
  const range = { start, end: start, isKey: false }
  reader.last = range
  const text = typeof value === 'string' ? value : null
  if (text !== null && top?.isHidden !== true) redactString(reader, range, text)
  addValue(reader, range, text)
}

const createOpenValue = (start: number, isObject: boolean, isHidden: boolean): OpenValue => ({
  start,
  isObject,
  isHidden,
  key: '',
  meaning: 'other',
  hasName: false,
  namesSecret: false,
  pointsToSecret: false,
  members: [],
  values: [],
})

/** Replaces a string that contains an embedded secret. */
function redactString({ spans, context }: Reader, range: Range, text: string): void {
  const redactedText = context.redactInner(text)
  if (redactedText !== text) spans.push({ range, text: JSON.stringify(redactedText) })
}

const hide = ({ spans }: Reader, range: Range): void =>
  void spans.push({ range, text: `"${redactionMarker}"` })

const isSecretValue = ({ isObject, namesSecret, meaning }: OpenValue): boolean =>
  meaning === 'secret' || (namesSecret && !isObject)

function close(reader: Reader, isObject: boolean, offset: number): void {
  const top = reader.open.pop()
  if (top?.isObject !== isObject) throw new Error('the brackets do not match')
  hideNamedMembers(reader, top, false)
  reader.end = offset + 1
  addValue(reader, { start: top.start, end: offset + 1 }, null)
}

/** Adds a value. With `isTruncated`, the value is incomplete because the text is truncated. */
function addValue(reader: Reader, range: Range, text: string | null, isTruncated = false): void {
  const parent = reader.open.at(-1)
  reader.expected = parent === undefined ? 'value' : 'next'
  if (parent === undefined) return
  if (isSecretValue(parent)) hide(reader, range)
  if (!parent.isObject) parent.namesSecret = text !== null && isSecretName(text)
  else if (parent.meaning === 'name' && text !== null && isSecretName(text)) parent.namesSecret = true
  else {
    parent.hasName ||= parent.meaning === 'name' && !isTruncated
    parent.members.push(range)
    if (parent.meaning === 'value') parent.values.push(range)
    parent.pointsToSecret ||= parent.key === 'path' && text !== null && isSecretPointer(text)
  }
}

/**
 * Hides all members next to the name of a secret. If the name may be in the missing part of a truncated body, hides
 * only the members called `value`.
 */
function hideNamedMembers(reader: Reader, top: OpenValue, isTruncated: boolean): void {
  if (!top.isObject) return
  const hiddenRanges = top.namesSecret
    ? top.members
    : top.pointsToSecret || (isTruncated && !top.hasName)
      ? top.values
      : []
  for (const range of hiddenRanges) hide(reader, range)
}

/** Closes all open objects and arrays of truncated JSON. */
function closeTruncatedValues(reader: Reader): void {
  reader.last = null
  for (let top = reader.open.pop(); top !== undefined; top = reader.open.pop()) {
    hideNamedMembers(reader, top, true)
    addValue(reader, { start: top.start, end: reader.end }, null, true)
  }
}
