// What the log of forwarded calls shows of headers, addresses and bodies: everything but secrets. Pure.
import { decodeText } from './decode.ts'
import { findSecrets } from './find.ts'
import { isSecretHeader } from './keys.ts'
import { redactParts } from './multipart.ts'
import { redacted, replaceSpans } from './spans.ts'
import { findUserinfo } from './text.ts'

const maxNestedParts = 3

/** Headers as they are logged; `raw` is flat: name, value, name, value … */
export function redactHeaders(raw: readonly string[]): { name: string; value: string }[] {
  const headers: { name: string; value: string }[] = []
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const [name, value] = [raw[i] as string, raw[i + 1] as string]
    headers.push({ name: storable(name), value: isSecretHeader(name) ? redacted : redactText(value, false) })
  }
  return headers
}

/** The URL with sensitive query values replaced. */
export function redactUrl(url: string): string {
  const at = url.search(/[?;&#]/)
  const path = at < 0 ? url : url.slice(0, at + 1)
  // A fragment is written like a query where it carries something.
  const queries = url.slice(path.length).split('#')
  return (
    storable(replaceSpans(path, findUserinfo(path))) +
    queries.map((query) => redactText(query, true)).join('#')
  )
}

/** What is logged of a body: `captured` is its beginning (at most 64 KiB are ever captured), `totalBytes` its whole length. */
export function redactBody(
  captured: Buffer,
  about: { totalBytes: number; contentType: string | null; contentEncoding: string | null },
): string {
  const isCut = captured.length < about.totalBytes
  const isEncoded = /[^\s,]/.test((about.contentEncoding ?? '').replaceAll(/\bidentity\b/gi, ''))
  const shown = isEncoded ? null : showBody(captured, about.contentType, isCut, 0)
  if (shown === null) return about.totalBytes > 0 ? `[binary, ${about.totalBytes} bytes]` : ''
  return isCut ? `${shown} [cut: ${captured.length} of ${about.totalBytes} bytes]` : shown
}

function showBody(bytes: Buffer, contentType: string | null, isCut: boolean, nested: number): string | null {
  const showPart = (content: Buffer, type: string | null, isPartCut: boolean): string =>
    showBody(content, type, isPartCut, nested + 1) ?? `[binary, ${content.length} bytes]`
  const parts = redactParts(bytes, { contentType, isCut, showPart })
  if (parts !== null) return nested < maxNestedParts ? storable(parts) : redacted
  const text = decodeText(bytes, contentType, isCut)
  return text === null ? null : redactText(text, /form-urlencoded/i.test(contentType ?? ''), isCut)
}

function redactText(text: string, isForm: boolean, isCut = false): string {
  const shown = replaceSpans(text, findSecrets(text, { isForm, isCut }))
  // Many short values would make the text longer than anybody wants to keep.
  const maxLength = 2 * text.length + 1_000
  return storable(shown.length > maxLength ? shown.slice(0, maxLength) + redacted : shown)
}

/** PostgreSQL stores neither U+0000 nor half a character. */
const storable = (text: string): string => text.replaceAll('\0', '\ufffd').toWellFormed()
