// Seven functions that a host could provide to templates. They behave like the functions of the oracle.
import { type TemplateFunction } from '../src/index.ts'

type Any = TemplateFunction<['any']>
type Text = TemplateFunction<['string']>

const toJson: Any = {
  parameters: ['any'],
  call: ([value], context) => (typeof value === 'string' ? jsonString(value) : json(value, context)),
}
const jsonEscape: Any = {
  parameters: ['any'],
  call: ([value], context) => jsonString(context.print(value)).slice(1, -1),
}
const toText: Any = { parameters: ['any'], call: ([value], context) => context.print(value) }
const toUpper: Text = { parameters: ['string'], call: ([text]) => mapped(text, (c) => c.toUpperCase()) }
const toLower: Text = { parameters: ['string'], call: ([text]) => mapped(text, (c) => c.toLowerCase()) }
const now: TemplateFunction<[]> = { parameters: [], call: () => '2026-11-14T00:00:00Z' }
const env: Text = {
  parameters: ['string'],
  call: ([key]) => {
    if (key === 'FAIL') throw new Error('no such variable')
    return `<${key}>`
  },
}

export const hostFunctions: Readonly<Record<string, TemplateFunction>> = {
  toJson,
  jsonEscape,
  toString: toText,
  toUpper,
  toLower,
  now,
  env,
}

/**
 * Go maps one character to one character. Where JavaScript returns several characters, Go keeps the original
 * character. A byte that is not valid UTF-8 becomes U+FFFD.
 */
function mapped(text: string, map: (character: string) => string): string {
  return Array.from(text.toWellFormed(), (character) => {
    const other = map(character)
    return Array.from(other).length === 1 ? other : character
  }).join('')
}

type Context = Parameters<Any['call']>[1]

/** Returns the value as Go's json.Marshal writes it. */
function json(value: unknown, context: Context): string {
  context.charge({ steps: 1 })
  // Go replaces lone surrogates when it reads JSON.
  if (typeof value === 'string') return jsonString(value.toWellFormed())
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value)
  // JavaScript and Go's encoding/json write the same numbers, except for the sign of zero.
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(value)
  if (typeof value !== 'object' || value === null) return 'null'
  if (Array.isArray(value)) return `[${value.map((element) => json(element, context)).join(',')}]`
  if ('toJSON' in value && typeof value.toJSON === 'function') return JSON.stringify(value)
  const fields = Object.entries(value).toSorted(([a], [b]) => byCodePoints(a, b))
  return `{${fields.map(([key, field]) => `${jsonString(key)}:${json(field, context)}`).join(',')}}`
}

/** Go orders keys by their bytes, which is the order of their code points. */
function byCodePoints(a: string, b: string): number {
  const [left, right] = [Array.from(a), Array.from(b)]
  const at = left.findIndex((character, index) => character !== right[index])
  if (at === -1 || right[at] === undefined) return left.length - right.length
  return (left[at]?.codePointAt(0) ?? 0) - (right[at].codePointAt(0) ?? 0)
}

const short: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
}
// Go also escapes characters that have a meaning in HTML or JavaScript. A lone surrogate represents a byte
// that is not valid UTF-8.
// oxlint-disable-next-line no-control-regex -- the expression must match control characters
const special = /["\\\u0000-\u001f<>&\u2028\u2029]|\p{Surrogate}/gu

function jsonString(text: string): string {
  const escaped = text.replace(special, (c) => short[c] ?? (c.isWellFormed() ? unicodeEscape(c) : '\\ufffd'))
  return `"${escaped}"`
}

const unicodeEscape = (c: string): string => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`
