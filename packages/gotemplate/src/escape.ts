// html, js and urlquery: the text of their arguments, escaped.
import { sprint } from './print.ts'
import { type Run } from './run.ts'
import { isPrintable } from './unicode.ts'
import { toBytes } from './utf8.ts'
import { type Value } from './value.ts'

/** The arguments as print would join them; here nil is printed as an action prints it. */
function joined(args: readonly Value[], run: Run): string {
  const [only] = args
  if (args.length === 1 && typeof only === 'string') return only
  return sprint(
    args.map((value) => (value === null ? '<no value>' : value)),
    run,
  )
}

const html: Readonly<Record<string, string>> = {
  '\0': '\ufffd',
  '"': '&#34;',
  "'": '&#39;',
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
}

/** The text of the arguments with the characters that mean something in HTML replaced. */
export function escapeHtml(args: readonly Value[], run: Run): string {
  const text = joined(args, run)
  return replaceEach(text, run, (character) => html[character])
}

const js: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  "'": "\\'",
  '"': '\\"',
  '<': '\\u003C',
  '>': '\\u003E',
  '&': '\\u0026',
  '=': '\\u003D',
}

/** The text of the arguments as it may stand in a JavaScript string. */
export function escapeJs(args: readonly Value[], run: Run): string {
  const text = joined(args, run)
  return replaceEach(text, run, (character) => {
    const known = js[character]
    if (known !== undefined) return known
    const code = character.codePointAt(0) ?? 0
    // A raw byte passes as it is.
    if ((code >= 0xd800 && code <= 0xdfff) || isPrintable(code) || code === 0x7f) return undefined
    return `\\u${code.toString(16).toUpperCase().padStart(4, '0')}`
  })
}

function replaceEach(text: string, run: Run, replacement: (character: string) => string | undefined): string {
  let result = ''
  for (const character of text) {
    const piece = replacement(character) ?? character
    run.build(piece.length)
    result += piece
  }
  return result
}

const unreserved = /^[A-Za-z0-9_.~-]$/

/** The text of the arguments as it may stand in the query of a URL. */
export function escapeQuery(args: readonly Value[], run: Run): string {
  const text = joined(args, run)
  run.build(text.length)
  let result = ''
  for (const byte of toBytes(text)) {
    const character = String.fromCharCode(byte)
    const piece = unreserved.test(character)
      ? character
      : byte === 0x20
        ? '+'
        : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
    run.build(piece.length)
    result += piece
  }
  return result
}
