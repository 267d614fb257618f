// Implements the template functions html, js and urlquery, which escape the text of their arguments.
import { sprint } from './print.ts'
import { type Run } from './run.ts'
import { isLetterOrDigit, isPrintable } from './unicode.ts'
import { toBytes } from './utf8.ts'
import { type Value } from './value.ts'

/** Joins the arguments like print, but formats nil in the same way as an action. */
function joinArguments(args: readonly Value[], run: Run): string {
  const [only] = args
  if (args.length === 1 && typeof only === 'string') return only
  return sprint(
    args.map((value) => (value === null ? '<no value>' : value)),
    run,
  )
}

const htmlEscapes: ReadonlyMap<number, string> = new Map([
  [0, '\ufffd'],
  [0x22, '&#34;'],
  [0x27, '&#39;'],
  [0x26, '&amp;'],
  [0x3c, '&lt;'],
  [0x3e, '&gt;'],
])

/** Returns the text of the arguments, with the special characters of HTML escaped. */
export function escapeHtml(args: readonly Value[], run: Run): string {
  return replaceCharacters(joinArguments(args, run), run, (code) =>
    code > 0x3e ? undefined : htmlEscapes.get(code),
  )
}

const jsEscapes: ReadonlyMap<number, string> = new Map([
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
  return replaceCharacters(joinArguments(args, run), run, (code) => {
    if (code >= 0x20 && code <= 0x7f) return jsEscapes.get(code)
    // Raw bytes are not escaped.
    if ((code >= 0xd800 && code <= 0xdfff) || isPrintable(code)) return undefined
    return `\\u${code.toString(16).toUpperCase().padStart(4, '0')}`
  })
}

/** Returns the text of the arguments, escaped for a URL query. */
export function escapeQuery(args: readonly Value[], run: Run): string {
  return replaceCharacters(joinArguments(args, run), run, (code) => {
    if (isUnreserved(code)) return undefined
    return code === 0x20 ? '+' : percentEncode(String.fromCodePoint(code))
  })
}

const isUnreserved = (code: number): boolean =>
  code < 0x80 && (isLetterOrDigit(code) || code === 0x2d || code === 0x2e || code === 0x7e)

function percentEncode(character: string): string {
  let encoded = ''
  for (const byte of toBytes(character)) encoded += `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  return encoded
}

/** Replaces some characters of the text. The text between these characters is copied unchanged. */
function replaceCharacters(
  text: string,
  run: Run,
  replacement: (code: number) => string | undefined,
): string {
  run.chargeBuild(text.length)
  let result = ''
  let copiedLength = 0
  for (let at = 0; at < text.length; at++) {
    const start = at
    const code = text.codePointAt(at) ?? 0
    if (code > 0xffff) at++
    const escapedText = replacement(code)
    if (escapedText === undefined) continue
    run.chargeBuild(escapedText.length)
    result += text.slice(copiedLength, start) + escapedText
    copiedLength = at + 1
  }
  return result + text.slice(copiedLength)
}
