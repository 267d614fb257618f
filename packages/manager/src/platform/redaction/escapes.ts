// How texts are escaped in JSON, forms and XML. Pure.

export type Escapes = {
  pattern: RegExp
  meaning: (escape: string) => string
  /** A text as it is written among these escapes. */
  write: (text: string) => string
}

/** Stands for a character of which only this matters: it is neither letter nor digit. */
const unknown = '\ufffd'

const code = (digits: string, radix: number): string => {
  const point = Number.parseInt(digits, radix)
  return point <= 0x10ffff ? String.fromCodePoint(point) : unknown
}
// One character of UTF-8, or a byte that is none.
const percent = '%u[0-9a-f]{4}|%[c-f][0-9a-f](?:%[89ab][0-9a-f]){1,3}|%[0-9a-f]{2}'
const jsonShort: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' }
const xmlNamed: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

const jsonMeaning = (escape: string): string =>
  escape.length === 6 ? code(escape.slice(2), 16) : (jsonShort[escape.slice(1)] ?? escape.slice(1))
const formMeaning = (escape: string): string => {
  if (escape === '+') return ' '
  if (escape[1] === 'u') return code(escape.slice(2), 16)
  const byte = Number.parseInt(escape.slice(1, 3), 16)
  if (byte < 0x80) return String.fromCharCode(byte)
  return Buffer.from(escape.replaceAll('%', ''), 'hex').toString()
}
const xmlMeaning = (escape: string): string => {
  const name = escape.slice(1, -1).toLowerCase()
  if (name.startsWith('#x')) return code(name.slice(2), 16)
  return name.startsWith('#') ? code(name.slice(1), 10) : (xmlNamed[name] as string)
}
const writePercent = (c: string): string => `%${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`

export const jsonEscapes: Escapes = {
  pattern: /\\(?:u[0-9a-f]{4}|[^])/gi,
  meaning: jsonMeaning,
  write: (text) => JSON.stringify(text).slice(1, -1),
}
export const formEscapes: Escapes = {
  pattern: new RegExp(String.raw`\+|${percent}`, 'gi'),
  meaning: formMeaning,
  write: (text) => text.replaceAll(/[^\w[\]!-]/g, writePercent),
}
export const xmlEscapes: Escapes = {
  pattern: /&(?:#\d{1,7}|#x[0-9a-f]{1,6}|lt|gt|amp|quot|apos);/gi,
  meaning: xmlMeaning,
  write: (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
}
/** In the text between tags a `<` is none: what looked like a tag at first is not taken for one again. */
export const betweenTagsEscapes: Escapes = {
  ...xmlEscapes,
  pattern: new RegExp(`<|${xmlEscapes.pattern.source}`, 'gi'),
  meaning: (escape) => (escape === '<' ? ' ' : xmlMeaning(escape)),
}
export const attributeEscapes: Escapes = {
  ...xmlEscapes,
  write: (text) => xmlEscapes.write(text).replaceAll('"', '&quot;'),
}
const looseMeaning = (escape: string): string => {
  const kind = escape.startsWith('&') ? xmlMeaning : escape.startsWith('%') ? formMeaning : jsonMeaning
  const meaning = kind(escape)
  return /^[\p{L}\p{N}=:]$/u.test(meaning) ? meaning : unknown
}
/**
 * All at once, for text of no known kind. Only what may be part of a name or follow one is resolved: an escaped quote,
 * blank or line end does not end a value.
 */
export const looseEscapes: Escapes = {
  pattern: new RegExp(String.raw`\\u[0-9a-f]{4}|${percent}|${xmlEscapes.pattern.source}`, 'gi'),
  meaning: looseMeaning,
  write: (text) => text,
}
export const entityEscapes: Escapes = { ...looseEscapes, pattern: xmlEscapes.pattern }
/** None: the text is as it is written. */
export const noEscapes: Escapes = { pattern: /(?!)/g, meaning: (escape) => escape, write: (text) => text }
