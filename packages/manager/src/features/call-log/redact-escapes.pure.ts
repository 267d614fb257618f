// How texts are escaped in JSON, forms and XML. Pure.
import { classesAt, codeAt, isSeparator, ofWord } from './redact-characters.pure.ts'
import type { Spend } from './redact-work.pure.ts'

/** What an escape means, and where it ends. */
type Meant = { text: string; end: number }
export type Escapes = {
  /** The escape that begins with the character at this place; null when none does. */
  resolve: (raw: string, at: number) => Meant | null
  /** Marks the codes of the ASCII characters that an escape may begin with. */
  leads: Uint8Array
  /** What it costs to resolve one, in steps. */
  cost: number
  /** A text as it is written among these escapes. */
  write: (text: string) => string
}

/** Stands for a character of which only this matters: it is neither letter nor digit. */
const unknown = '\ufffd'

const leadsOf = (characters: string): Uint8Array => {
  const leads = new Uint8Array(128)
  for (const c of characters) leads[c.charCodeAt(0)] = 1
  return leads
}

/** Where an escape may begin, from here on; the end of the text when none does. */
export function nextLead(text: string, from: number, { leads }: Escapes): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 128 && leads[code] === 1) return at
  }
  return text.length
}

/** Whether the text has an escape. */
export function hasEscape(text: string, escapes: Escapes, spend: Spend): boolean {
  for (let at = nextLead(text, 0, escapes); at < text.length; at = nextLead(text, at + 1, escapes)) {
    spend(escapes.cost)
    if (escapes.resolve(text, at) !== null) return true
  }
  return false
}

/** The text with its escapes resolved. */
export function resolved(text: string, escapes: Escapes, spend: Spend): string {
  let [meant, from] = ['', 0]
  for (let at = nextLead(text, 0, escapes); at < text.length;) {
    spend(escapes.cost)
    const escape = escapes.resolve(text, at)
    if (escape !== null) {
      meant += text.slice(from, at) + escape.text
      from = escape.end
    }
    at = nextLead(text, escape?.end ?? at + 1, escapes)
  }
  return from === 0 ? text : meant + text.slice(from)
}

function hexDigit(code: number): number {
  if (code > 47 && code < 58) return code - 48
  const lower = code | 32
  return lower > 96 && lower < 103 ? lower - 87 : -1
}

/** The number that this many hexadecimal digits give; -1 when they are none. */
function hex(text: string, from: number, digits: number): number {
  let value = 0
  for (let at = from; at < from + digits; at++) {
    const digit = hexDigit(codeAt(text, at))
    if (digit < 0) return -1
    value = value * 16 + digit
  }
  return value
}

const [backslash, percent, semicolon, numberSign, letterX] = [0x5c, 0x25, 0x3b, 0x23, 0x78]
const jsonShort: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' }

function resolveUnicode(raw: string, at: number): Meant | null {
  const code = (codeAt(raw, at + 1) | 32) === 0x75 ? hex(raw, at + 2, 4) : -1
  return code < 0 ? null : { text: String.fromCharCode(code), end: at + 6 }
}
function resolveJson(raw: string, at: number): Meant | null {
  const next = raw[at + 1]
  if (next === undefined) return null
  return resolveUnicode(raw, at) ?? { text: jsonShort[next] ?? next, end: at + 2 }
}

function resolvePercent(raw: string, at: number): Meant | null {
  const byte = hex(raw, at + 1, 2)
  if (byte < 0) return resolveUnicode(raw, at)
  if (byte < 0x80) return { text: String.fromCharCode(byte), end: at + 3 }
  return resolveUtf8(raw, at, byte) ?? { text: unknown, end: at + 3 }
}

/** A character of two to four bytes, of which this is the first; null when it is none. */
function resolveUtf8(raw: string, at: number, first: number): Meant | null {
  const more = first < 0xc0 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3
  let point = first & (0x3f >> more)
  for (let index = 1; index <= more; index++) {
    const byte = codeAt(raw, at + 3 * index) === percent ? hex(raw, at + 3 * index + 1, 2) : -1
    if (byte >> 6 !== 0b10) return null
    point = (point << 6) | (byte & 0x3f)
  }
  const isOne = point >= (leastOf[more] as number) && point <= 0x10ffff && point >> 11 !== 0x1b
  return isOne ? { text: String.fromCodePoint(point), end: at + 3 * (more + 1) } : null
}
// The least character for each number of further bytes; none has zero.
const leastOf = [Infinity, 0x80, 0x800, 0x1_00_00]
const resolveForm = (raw: string, at: number): Meant | null =>
  raw[at] === '+' ? { text: ' ', end: at + 1 } : resolvePercent(raw, at)

const xmlNamed = new Map([
  ['lt', '<'],
  ['gt', '>'],
  ['amp', '&'],
  ['quot', '"'],
  ['apos', "'"],
])
const longestName = 'quot'.length

function resolveXml(raw: string, at: number): Meant | null {
  if (codeAt(raw, at + 1) === numberSign) return resolveNumber(raw, at + 2)
  let end = at + 1
  while (end <= at + longestName && (codeAt(raw, end) | 32) > 96) end++
  if (codeAt(raw, end) !== semicolon) return null
  const text = xmlNamed.get(raw.slice(at + 1, end).toLowerCase())
  return text === undefined ? null : { text, end: end + 1 }
}

/** Up to seven decimal digits, or `x` and up to six hexadecimal ones. */
function resolveNumber(raw: string, from: number): Meant | null {
  const isHex = (codeAt(raw, from) | 32) === letterX
  const start = isHex ? from + 1 : from
  let [end, point] = [start, 0]
  for (; end < start + (isHex ? 6 : 7); end++) {
    const digit = hexDigit(codeAt(raw, end))
    if (digit < 0 || (digit > 9 && !isHex)) break
    point = point * (isHex ? 16 : 10) + digit
  }
  if (end === start || codeAt(raw, end) !== semicolon) return null
  return { text: point <= 0x10ffff ? String.fromCodePoint(point) : unknown, end: end + 1 }
}

const writePercent = (c: string): string => `%${codeAt(c, 0).toString(16).toUpperCase().padStart(2, '0')}`

export const jsonEscapes: Escapes = {
  resolve: resolveJson,
  leads: leadsOf('\\'),
  cost: 25,
  write: (text) => JSON.stringify(text).slice(1, -1),
}
export const formEscapes: Escapes = {
  resolve: resolveForm,
  leads: leadsOf('+%'),
  cost: 40,
  write: (text) => text.replaceAll(/[^\w[\]!-]/g, writePercent),
}
export const xmlEscapes: Escapes = {
  resolve: resolveXml,
  leads: leadsOf('&'),
  cost: 50,
  write: (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
}
/** In the text between tags a `<` is none: what looked like a tag at first is not taken for one again. */
export const betweenTagsEscapes: Escapes = {
  ...xmlEscapes,
  resolve: (raw, at) => (raw[at] === '<' ? { text: ' ', end: at + 1 } : resolveXml(raw, at)),
  leads: leadsOf('<&'),
}
export const attributeEscapes: Escapes = {
  ...xmlEscapes,
  write: (text) => xmlEscapes.write(text).replaceAll('"', '&quot;'),
}

const mayBeOfName = /^[\p{L}\p{N}=:]$/u
function loosely(meant: Meant | null): Meant | null {
  if (meant === null) return null
  const isOfName =
    meant.text.length === 1 && meant.text < '\x80'
      ? (classesAt(meant.text, 0) & (ofWord | isSeparator)) !== 0
      : mayBeOfName.test(meant.text)
  return isOfName ? meant : { text: unknown, end: meant.end }
}

function resolveLoose(raw: string, at: number): Meant | null {
  const code = codeAt(raw, at)
  const resolve = code === backslash ? resolveUnicode : code === percent ? resolvePercent : resolveXml
  return loosely(resolve(raw, at))
}
/**
 * All at once, for text of no known kind. Only what may be part of a name or follow one is resolved: an escaped quote,
 * blank or line end does not end a value.
 */
export const looseEscapes: Escapes = {
  resolve: resolveLoose,
  leads: leadsOf('\\%&'),
  cost: 60,
  write: (text) => text,
}
export const entityEscapes: Escapes = {
  ...looseEscapes,
  resolve: (raw, at) => loosely(resolveXml(raw, at)),
  leads: xmlEscapes.leads,
}
/** None: the text is as it is written. */
export const noEscapes: Escapes = { resolve: () => null, leads: leadsOf(''), cost: 0, write: (text) => text }
