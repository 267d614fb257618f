// This file redacts secrets in JSON, or in a sequence of JSON texts. A tokenizer reads the text, and this module
// validates the order of the tokens. It keeps its own stack, so deep nesting does not cause recursion.
import { Tokenizer, TokenType } from '@streamparser/json'
import type { RedactionContext } from './redact-budget.pure.ts'
import { isSecretName, isSecretPointer, type Meaning, meaningOf } from './redact-keys.pure.ts'
import { type Range, redacted, replaceSpans, type Span } from './redact-spans.pure.ts'

type Open = {
  start: number
  isObject: boolean
  /** Whether this object or array is inside the value of a secret. */
  isHidden: boolean
  key: string
  meaning: Meaning
  hasName: boolean
  /** Whether a member or the last element names a secret, as in `{"name": "pin", "value": 1}` or `["pin", 1]`. */
  isNamed: boolean
  /** Whether a member `path` points to a secret, as in a JSON patch. */
  isPointed: boolean
  /** The members that another member can name, and those of them that are called `value`. */
  members: Range[]
  values: Range[]
}
type Wanted = 'key' | 'key or end' | 'colon' | 'value' | 'value or end' | 'next'
type Reader = {
  bytes: Buffer
  context: RedactionContext
  spans: Span[]
  open: Open[]
  wanted: Wanted
  /** The scalar or key before this token. Its end is known only when the next token starts. */
  last: (Range & { isKey: boolean }) | null
  /** The offset at which the last complete value ends. */
  end: number
}
type Token = { token: TokenType; value: unknown; offset: number }

const betweenValues = new Set([
  TokenType.COLON,
  TokenType.COMMA,
  TokenType.RIGHT_BRACE,
  TokenType.RIGHT_BRACKET,
])
const blanks = new Set(Buffer.from(' \t\r\n'))

/**
 * Redacts the secrets of a JSON text. A truncated text ends after its last complete value. Throws if the text is not
 * JSON.
 */
export function redactJson(text: string, context: RedactionContext): string {
  // JSON texts can start with a byte order mark (U+FEFF) and have separators between them (RFC 7464).
  const bytes = Buffer.from(text.replace(/^\ufeff/, '').replaceAll('\x1e', ' '))
  const reader: Reader = { bytes, context, spans: [], open: [], wanted: 'value', last: null, end: 0 }
  const tokenizer = new Tokenizer({ separator: '' })
  tokenizer.onToken = (token) => {
    confirm(reader, token.offset)
    read(reader, token)
  }
  tokenizer.write(bytes)
  if (context.isTruncated) closeTruncated(reader)
  else {
    tokenizer.end()
    confirm(reader, bytes.length)
    if (reader.open.length > 0 || reader.wanted !== 'value') throw new Error('the JSON is not complete')
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
function confirm(reader: Reader, at: number): void {
  const { last, bytes } = reader
  if (last === null) return
  last.end = at
  while (blanks.has(bytes[last.end - 1] as number)) last.end--
  if (!last.isKey) reader.end = last.end
  reader.last = null
}

function read(reader: Reader, { token, value, offset }: Token): void {
  const { wanted } = reader
  const top = reader.open.at(-1)
  const wantsKey = wanted === 'key' || wanted === 'key or end'
  if (token === TokenType.STRING && wantsKey) return readKey(reader, top as Open, value as string, offset)
  if (token === TokenType.COLON && wanted === 'colon') reader.wanted = 'value'
  else if (token === TokenType.COMMA && wanted === 'next')
    reader.wanted = top?.isObject === true ? 'key' : 'value'
  else if (token === TokenType.RIGHT_BRACE && (wanted === 'key or end' || wanted === 'next'))
    close(reader, true, offset)
  else if (token === TokenType.RIGHT_BRACKET && (wanted === 'value or end' || wanted === 'next'))
    close(reader, false, offset)
  else if ((wanted !== 'value' && wanted !== 'value or end') || betweenValues.has(token))
    throw new Error('the text is not JSON')
  else readValue(reader, { token, value, offset })
}

function readKey(reader: Reader, top: Open, key: string, start: number): void {
  const range = { start, end: start, isKey: true }
  top.key = key
  top.meaning = meaningOf(key)
  reader.last = range
  reader.wanted = 'colon'
  if (!top.isHidden) hideInside(reader, range, key)
}

function readValue(reader: Reader, { token, value, offset: start }: Token): void {
  const top = reader.open.at(-1)
  reader.context.spend()
  if (token === TokenType.LEFT_BRACE || token === TokenType.LEFT_BRACKET) {
    const isObject = token === TokenType.LEFT_BRACE
    const isHidden = top !== undefined && (top.isHidden || isSecretValue(top))
    reader.open.push(opened(start, isObject, isHidden))
    reader.wanted = isObject ? 'key or end' : 'value or end'
    return
  }
  const range = { start, end: start, isKey: false }
  reader.last = range
  const text = typeof value === 'string' ? value : null
  if (text !== null && top?.isHidden !== true) hideInside(reader, range, text)
  addValue(reader, range, text)
}

const opened = (start: number, isObject: boolean, isHidden: boolean): Open => ({
  start,
  isObject,
  isHidden,
  key: '',
  meaning: 'other',
  hasName: false,
  isNamed: false,
  isPointed: false,
  members: [],
  values: [],
})

/** Replaces a string that contains an embedded secret. */
function hideInside({ spans, context }: Reader, range: Range, text: string): void {
  const shown = context.inside(text)
  if (shown !== text) spans.push({ range, text: JSON.stringify(shown) })
}

const hide = ({ spans }: Reader, range: Range): void => void spans.push({ range, text: `"${redacted}"` })

const isSecretValue = ({ isObject, isNamed, meaning }: Open): boolean =>
  meaning === 'secret' || (isNamed && !isObject)

function close(reader: Reader, isObject: boolean, offset: number): void {
  const top = reader.open.pop()
  if (top?.isObject !== isObject) throw new Error('the brackets do not match')
  hideNamed(reader, top, false)
  reader.end = offset + 1
  addValue(reader, { start: top.start, end: offset + 1 }, null)
}

/** Adds a value that is complete, or that is incomplete because the text is truncated. */
function addValue(reader: Reader, range: Range, text: string | null, isTruncated = false): void {
  const parent = reader.open.at(-1)
  reader.wanted = parent === undefined ? 'value' : 'next'
  if (parent === undefined) return
  if (isSecretValue(parent)) hide(reader, range)
  if (!parent.isObject) parent.isNamed = text !== null && isSecretName(text)
  else if (parent.meaning === 'name' && text !== null && isSecretName(text)) parent.isNamed = true
  else {
    parent.hasName ||= parent.meaning === 'name' && !isTruncated
    parent.members.push(range)
    if (parent.meaning === 'value') parent.values.push(range)
    parent.isPointed ||= parent.key === 'path' && text !== null && isSecretPointer(text)
  }
}

/**
 * Hides all members next to the name of a secret. If the name may be in the missing part, hides members called `value`.
 */
function hideNamed(reader: Reader, top: Open, isTruncated: boolean): void {
  if (!top.isObject) return
  const hidden = top.isNamed ? top.members : top.isPointed || (isTruncated && !top.hasName) ? top.values : []
  for (const range of hidden) hide(reader, range)
}

/** Closes all open objects and arrays of a truncated text. */
function closeTruncated(reader: Reader): void {
  reader.last = null
  for (let top = reader.open.pop(); top !== undefined; top = reader.open.pop()) {
    hideNamed(reader, top, true)
    addValue(reader, { start: top.start, end: reader.end }, null, true)
  }
}
