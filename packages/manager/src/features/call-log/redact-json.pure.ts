// Secrets in JSON, or in several JSON texts one after the other. A tokenizer reads the text; this module knows which
// token may follow, and keeps its own stack, so that deep nesting costs no calls. Pure.
import { Tokenizer, TokenType } from '@streamparser/json'
import type { Look } from './redact-budget.pure.ts'
import { isSecretName, isSecretPointer, type Meaning, meaningOf } from './redact-keys.pure.ts'
import { type Place, redacted, replaceSpans, type Span } from './redact-spans.pure.ts'

type Open = {
  start: number
  isObject: boolean
  /** Inside the value of a secret. */
  isHidden: boolean
  key: string
  meaning: Meaning
  hasName: boolean
  /** A member or the last element names a secret, as in `{"name": "pin", "value": 1}` or `["pin", 1]`. */
  isNamed: boolean
  /** A member `path` points to a secret, as in a JSON patch. */
  isPointed: boolean
  /** The members that another one may name, and those of them that are called `value`. */
  members: Place[]
  values: Place[]
}
type Wanted = 'key' | 'key or end' | 'colon' | 'value' | 'value or end' | 'next'
type Reader = {
  bytes: Buffer
  look: Look
  spans: Span[]
  open: Open[]
  wanted: Wanted
  /** The scalar or key before this token; its end shows only now. */
  last: (Place & { isKey: boolean }) | null
  /** Where the last complete value ends. */
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

/** The text with what is secret replaced, up to its last complete value if it is cut; throws when it is not JSON. */
export function redactJson(text: string, look: Look): string {
  // JSON texts may have a mark in front (U+FEFF) and between them (RFC 7464).
  const bytes = Buffer.from(text.replace(/^\ufeff/, '').replaceAll('\x1e', ' '))
  const reader: Reader = { bytes, look, spans: [], open: [], wanted: 'value', last: null, end: 0 }
  const tokenizer = new Tokenizer({ separator: '' })
  tokenizer.onToken = (token) => {
    confirm(reader, token.offset)
    read(reader, token)
  }
  tokenizer.write(bytes)
  if (look.isCut) leaveOpen(reader)
  else {
    tokenizer.end()
    confirm(reader, bytes.length)
    if (reader.open.length > 0 || reader.wanted !== 'value') throw new Error('the JSON is not complete')
  }
  if (reader.end === 0) throw new Error('no JSON value is complete')
  if (reader.spans.length === 0 && !look.isCut) return text
  return replaceSpans(
    (start, end) => bytes.toString('utf8', start, end),
    look.isCut ? reader.end : bytes.length,
    reader.spans,
  )
}

/** Sets the end of the last scalar or key: what follows it starts here. */
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
  const place = { start, end: start, isKey: true }
  top.key = key
  top.meaning = meaningOf(key)
  reader.last = place
  reader.wanted = 'colon'
  if (!top.isHidden) hideInside(reader, place, key)
}

function readValue(reader: Reader, { token, value, offset: start }: Token): void {
  const top = reader.open.at(-1)
  reader.look.spend()
  if (token === TokenType.LEFT_BRACE || token === TokenType.LEFT_BRACKET) {
    const isObject = token === TokenType.LEFT_BRACE
    const isHidden = top !== undefined && (top.isHidden || isSecretValue(top))
    reader.open.push(opened(start, isObject, isHidden))
    reader.wanted = isObject ? 'key or end' : 'value or end'
    return
  }
  const place = { start, end: start, isKey: false }
  reader.last = place
  const text = typeof value === 'string' ? value : null
  if (text !== null && top?.isHidden !== true) hideInside(reader, place, text)
  addValue(reader, place, text)
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

/** Replaces a string that has something to hide inside. */
function hideInside({ spans, look }: Reader, place: Place, text: string): void {
  const shown = look.inside(text)
  if (shown !== text) spans.push({ place, text: JSON.stringify(shown) })
}

const hide = ({ spans }: Reader, place: Place): void => void spans.push({ place, text: `"${redacted}"` })

const isSecretValue = ({ isObject, isNamed, meaning }: Open): boolean =>
  meaning === 'secret' || (isNamed && !isObject)

function close(reader: Reader, isObject: boolean, offset: number): void {
  const top = reader.open.pop()
  if (top?.isObject !== isObject) throw new Error('the brackets do not match')
  hideNamed(reader, top, false)
  reader.end = offset + 1
  addValue(reader, { start: top.start, end: offset + 1 }, null)
}

/** A value ended, or cannot end because the text is cut. */
function addValue(reader: Reader, place: Place, text: string | null, isCut = false): void {
  const parent = reader.open.at(-1)
  reader.wanted = parent === undefined ? 'value' : 'next'
  if (parent === undefined) return
  if (isSecretValue(parent)) hide(reader, place)
  if (!parent.isObject) parent.isNamed = text !== null && isSecretName(text)
  else if (parent.meaning === 'name' && text !== null && isSecretName(text)) parent.isNamed = true
  else {
    parent.hasName ||= parent.meaning === 'name' && !isCut
    parent.members.push(place)
    if (parent.meaning === 'value') parent.values.push(place)
    parent.isPointed ||= parent.key === 'path' && text !== null && isSecretPointer(text)
  }
}

/** Beside the name of a secret everything is hidden; where a name may still follow, members called `value`. */
function hideNamed(reader: Reader, top: Open, isCut: boolean): void {
  if (!top.isObject) return
  const hidden = top.isNamed ? top.members : top.isPointed || (isCut && !top.hasName) ? top.values : []
  for (const place of hidden) hide(reader, place)
}

/** Ends what is open where the text is cut. */
function leaveOpen(reader: Reader): void {
  reader.last = null
  for (let top = reader.open.pop(); top !== undefined; top = reader.open.pop()) {
    hideNamed(reader, top, true)
    addValue(reader, { start: top.start, end: reader.end }, null, true)
  }
}
