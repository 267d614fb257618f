// The template functions html, js and urlquery, which escape the text of their arguments.
import { sprint } from './print.ts'
import { type Run } from './run.ts'
import { isLetterOrDigit, isPrintable } from './unicode.ts'
import { toBytes } from './utf8.ts'
import { type Value } from './value.ts'

/** Joins the arguments like print, but formats nil as an action does. */
function joined(args: readonly Value[], run: Run): string {
  const [only] = args
  if (args.length === 1 && typeof only === 'string') return only
  return sprint(
    args.map((value) => (value === null ? '<no value>' : value)),
    run,
  )
}

const html: ReadonlyMap<number, string> = new Map([
  [0, '\ufffd'],
  [0x22, '&#34;'],
  [0x27, '&#39;'],
  [0x26, '&amp;'],
  [0x3c, '&lt;'],
  [0x3e, '&gt;'],
])

/** Returns the text of the arguments, with the special characters of HTML escaped. */
export function escapeHtml(args: readonly Value[], run: Run): string {
  return replaceEach(joined(args, run), run, (code) => (code > 0x3e ? undefined : html.get(code)))
}

const js: ReadonlyMap<number, string> = new Map([
  [0x5c, '\\\\'],
  [0x27, "\\'"],
  [0x22, '\\"'],
  [0x3c, '\\u003C'],
  [0x3e, '\\u003E'],
  [0x26, '\\u0026'],
  [0x3d, '\\u003D'],
])

/** Returns the text of the arguments, escaped for a JavaScript string. */
export function escapeJs(args: readonly Value[], run: Run): string {
  return replaceEach(joined(args, run), run, (code) => {
    if (code >= 0x20 && code <= 0x7f) return js.get(code)
    // Raw bytes pass unchanged.
    if ((code >= 0xd800 && code <= 0xdfff) || isPrintable(code)) return undefined
    return `\\u${code.toString(16).toUpperCase().padStart(4, '0')}`
  })
}

/** Returns the text of the arguments, escaped for the query of a URL. */
export function escapeQuery(args: readonly Value[], run: Run): string {
  return replaceEach(joined(args, run), run, (code) => {
    if (isUnreserved(code)) return undefined
    return code === 0x20 ? '+' : percentEncoded(String.fromCodePoint(code))
  })
}

const isUnreserved = (code: number): boolean =>
  code < 0x80 && (isLetterOrDigit(code) || code === 0x2d || code === 0x2e || code === 0x7e)

function percentEncoded(character: string): string {
  let encoded = ''
  for (const byte of toBytes(character)) encoded += `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  return encoded
}

/** Replaces some characters of the text. The text between them is copied in one piece. */
function replaceEach(text: string, run: Run, replacement: (code: number) => string | undefined): string {
  run.build(text.length)
  let result = ''
  let copied = 0
  for (let at = 0; at < text.length; at++) {
    const start = at
    const code = text.codePointAt(at) ?? 0
    if (code > 0xffff) at++
    const piece = replacement(code)
    if (piece === undefined) continue
    run.build(piece.length)
    result += text.slice(copied, start) + piece
    copied = at + 1
  }
  return result + text.slice(copied)
}
