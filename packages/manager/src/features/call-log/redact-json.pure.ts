// Secrets in JSON, found by a reader that goes once through the text and knows at every character what may follow. It
// reads a beginning as well as a whole, and says where the text stops being JSON. Pure.
import { codeAt } from './redact-characters.pure.ts'
import { jsonEscapes } from './redact-escapes.pure.ts'
import { isSecretName, isSecretPointer, type Meaning, meaningOf } from './redact-keys.pure.ts'
import { hideRest, lookInside, redacted, type Scan, type Span } from './redact-spans.pure.ts'

type Place = { start: number; end: number }
type Open = {
  start: number
  isObject: boolean
  key: string
  meaning: Meaning
  /** Whether an object has a member such as `name`. */
  hasName: boolean
  /**
   * A member names a secret, as in `{"name": "password", "value": "x"}`, or an element does, as in `["password", "x"]`.
   */
  isNamed: boolean
  /** A member `path` points to a secret, as in a JSON patch. */
  isPointed: boolean
  /** The members that would be hidden if another one named a secret, and those of them that are called `value`. */
  others: Place[]
  values: Place[]
}
type Wanted = 'key' | 'colon' | 'value' | 'next'
type Json = { scan: Scan; at: number; wanted: Wanted; open: Open[] }

const literal = /^(?:-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|NaN|-?Infinity)$/
const literalEnd = /[\s"{}[\],:]/g
const objectStart = /\{\s*"/g
const [space, quote, backslash] = [0x20, 0x22, 0x5c]
// Of a value on its own, a sign, string or literal, and something open that is left.
const [costOfValue, costOfToken, costOfOpen] = [100, 30, 60]
// JSON texts may have a mark between them (RFC 7464).
// oxlint-disable-next-line no-control-regex -- the mark is a control character
const nonBlank = /[^\s\x1e]/g

/** Finds what to hide in JSON, or in several JSON texts one after the other; false when it was no JSON after all. */
export function findInJson(scan: Scan): boolean {
  const { text, spans } = scan
  let at = skipBlank(text, 0)
  while (at < text.length) {
    const { end, isJson } = readJson(scan, at)
    if (!isJson && spans.length === 0) return false
    // What follows a secret may be the rest of it.
    if (!isJson) hideRest(scan, 0)
    at = isJson ? skipBlank(text, end) : text.length
  }
  return true
}

/** Finds what to hide in the JSON objects somewhere in a text. */
export function findInEmbeddedJson(scan: Scan): void {
  const { text, spans } = scan
  let at = search(objectStart, text, 0)
  while (at < text.length) {
    const found = spans.length
    const { end, isJson } = readJson(scan, at)
    if (!isJson && spans.length > found) return hideRest(scan, found)
    at = search(objectStart, text, Math.max(end, at + 1))
  }
}

/** Where the JSON value that begins here ends; the end of the text when it is none. */
export function endOfJson({ text, spend }: Scan, from: number): number {
  const { end, isJson } = readJson({ text, isCut: false, spans: [], spend, inside: () => [] }, from)
  return isJson ? end : text.length
}

/** Where something other than blanks follows. */
export const skipBlank = (text: string, from: number): number =>
  codeAt(text, from) > space ? from : search(nonBlank, text, from)

/** Reads one value and adds what is to be hidden; ends behind the value, or where the text stops being JSON. */
function readJson(scan: Scan, from: number): { end: number; isJson: boolean } {
  const { text } = scan
  scan.spend(costOfValue)
  const json: Json = { scan, at: from, wanted: 'value', open: [] }
  do {
    json.at = skipBlank(text, json.at)
    const c = text[json.at]
    if (c === undefined || !step(json, c)) {
      leave(json)
      return { end: json.at, isJson: c === undefined }
    }
  } while (json.open.length > 0)
  return { end: json.at, isJson: true }
}

/** Reads on by a sign, a string or a literal; false when it is not allowed here. */
function step(json: Json, c: string): boolean {
  json.scan.spend(costOfToken)
  const { at, wanted } = json
  const top = json.open.at(-1)
  if (c === '"' && wanted === 'value') end(json, at, readString(json))
  else if (c === '"' && wanted === 'key' && top !== undefined) {
    top.key = readString(json)
    top.meaning = meaningOf(top.key, json.scan.spend)
    json.wanted = 'colon'
  } else if (c === ':' && wanted === 'colon') go(json, 'value')
  else if (c === ',' && wanted === 'next') go(json, top?.isObject === true ? 'key' : 'value')
  else if (c === '}' && top?.isObject === true && (wanted === 'key' || wanted === 'next')) close(json, top)
  else if (c === ']' && top?.isObject === false) close(json, top)
  else if (wanted !== 'value') return false
  else if (c === '{' || c === '[') {
    json.open.push(opened(at, c === '{'))
    go(json, c === '{' ? 'key' : 'value')
  } else {
    json.at = search(literalEnd, json.scan.text, at)
    if (json.at < json.scan.text.length && !literal.test(json.scan.text.slice(at, json.at))) {
      json.at = at
      return false
    }
    end(json, at, null)
  }
  return true
}

const none: Place[] = []
const opened = (start: number, isObject: boolean): Open => ({
  start,
  isObject,
  key: '',
  meaning: 'other',
  hasName: false,
  isNamed: false,
  isPointed: false,
  others: isObject ? [] : none,
  values: isObject ? [] : none,
})

function go(json: Json, wanted: Wanted): void {
  json.at++
  json.wanted = wanted
}

function readString(json: Json): string {
  const { at, scan } = json
  const { text } = scan
  let close = at + 1
  for (let code = codeAt(text, close); code >= 0 && code !== quote; code = codeAt(text, close))
    close += code === backslash ? 2 : 1
  json.at = Math.min(close + 1, text.length)
  return lookInside(scan, at + 1, Math.min(close, text.length), jsonEscapes)
}

function close(json: Json, top: Open): void {
  json.open.pop()
  hideNamed(json.scan.spans, top, false)
  json.at++
  end(json, top.start, null)
}

/** A value ends here. */
function end(json: Json, start: number, value: string | null): void {
  json.wanted = 'next'
  const parent = json.open.at(-1)
  if (parent !== undefined) addValue(json.scan, parent, { start, end: json.at }, value)
}

function addValue({ text, spans, spend }: Scan, parent: Open, place: Place, value: string | null): void {
  const isUnfinished = place.end === text.length
  if (parent.meaning === 'secret' || (parent.isNamed && !parent.isObject)) spans.push(hideValue(place))
  if (!parent.isObject) parent.isNamed = value !== null && isSecretName(value, spend)
  else if (parent.meaning === 'name') {
    parent.hasName ||= !isUnfinished
    if (value !== null && isSecretName(value, spend)) parent.isNamed = true
    else parent.others.push(place)
  } else {
    parent.others.push(place)
    if (parent.meaning === 'value') parent.values.push(place)
    parent.isPointed ||= parent.key === 'path' && value !== null && isSecretPointer(value, spend)
  }
}

const hideValue = ({ start, end }: Place): Span => ({ start, end, text: `"${redacted}"` })

/** Beside the name of a secret all is hidden; where a name may still have come, what is called `value`. */
function hideNamed(
  spans: Span[],
  { isObject, isNamed, isPointed, hasName, others, values }: Open,
  isCut: boolean,
): void {
  if (!isObject) return
  const hidden = isNamed ? others : isPointed || (isCut && !hasName) ? values : []
  for (const place of hidden) spans.push(hideValue(place))
}

/** Closes what is open where the text ends or stops being JSON: what is not finished goes on to the end of the text. */
function leave(json: Json): void {
  const { at, wanted, open, scan } = json
  const { text, spans, spend } = scan
  let start = wanted === 'colon' || wanted === 'value' ? at : text.length
  for (const parent of open.toReversed()) {
    spend(costOfOpen)
    if (start < text.length) addValue(scan, parent, { start, end: text.length }, null)
    hideNamed(spans, parent, true)
    start = parent.start
  }
}

/** Where the pattern is found from here on; the end of the text when it is not. */
function search(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from
  return pattern.exec(text)?.index ?? text.length
}
