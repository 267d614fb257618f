// What the log of forwarded calls shows of headers, addresses and bodies. Bodies that parse as JSON, XML, a form or
// parts are shown without secrets; of all others, the type and the length. Pure.
import { type Budget, createBudget, within } from './redact-budget.pure.ts'
import { decodeText } from './redact-decode.pure.ts'
import { isSecretHeader } from './redact-keys.pure.ts'
import { type Part, redactParts } from './redact-multipart.pure.ts'
import { redacted } from './redact-spans.pure.ts'
import { showAddress, showDocument, showText } from './redact-text.pure.ts'

const maxNestedParts = 3
const mediaType = /^\s*([\w.+-]{1,60}\/[\w.+-]{1,60})\s*(?:;|$)/

/** Headers as they are logged; `raw` is flat: name, value, name, value … */
export function redactHeaders(
  raw: readonly string[],
  budget = createBudget(),
): { name: string; value: string }[] {
  const headers: { name: string; value: string }[] = []
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const [name, value] = [raw[i] as string, raw[i + 1] as string]
    const shown = isSecretHeader(name) ? redacted : within(() => showText(value, budget), redacted)
    headers.push({ name: storable(name), value: storable(shown) })
  }
  return headers
}

/** The URL with sensitive query values replaced. */
export function redactUrl(url: string, budget = createBudget()): string {
  const at = url.search(/[?;&#]/)
  const path = at < 0 ? url : url.slice(0, at + 1)
  return storable(within(() => showAddress(url, budget), `${showAddress(path, createBudget())}${redacted}`))
}

/**
 * What is logged of a body: `captured` is its beginning (at most 64 KiB are ever captured), `totalBytes` its whole
 * length.
 */
export function redactBody(
  captured: Buffer,
  about: { totalBytes: number; contentType: string | null; contentEncoding: string | null },
  budget = createBudget(),
): string {
  const { totalBytes, contentType } = about
  const isEncoded = /[^\s,]/.test((about.contentEncoding ?? '').replaceAll(/\bidentity\b/gi, ''))
  const part: Part = { content: captured, contentType, isCut: captured.length < totalBytes }
  const shown = isEncoded ? null : within(() => showBody(part, budget, 0), null)
  if (totalBytes === 0) return ''
  if (shown === null) return `[${isEncoded ? 'binary' : typeOf(part)}, ${totalBytes} bytes]`
  // Many short values would make the text too long to keep.
  const maxLength = 2 * captured.length + 1_000
  const kept = storable(shown.length > maxLength ? shown.slice(0, maxLength) + redacted : shown)
  return part.isCut ? `${kept} [cut: ${captured.length} of ${totalBytes} bytes]` : kept
}

/** A body or a part of one; null when it does not parse. Throws when it exceeds the budget. */
function showBody(body: Part, budget: Budget, nested: number): string | null {
  const showPart = (part: Part): string =>
    showBody(part, budget, nested + 1) ??
    showField(part, budget) ??
    `[${typeOf(part)}, ${part.content.length} bytes${part.isCut ? ' and more' : ''}]`
  const parts = redactParts(body, { budget, isTooDeep: nested >= maxNestedParts, showPart })
  if (parts !== null) return parts
  const text = decodeText(body.content, body.contentType, body.isCut)
  return text === null ? null : showDocument(text, budget, body.isCut)
}

/** A part without a type is a field of a form, and shown like the value of one. */
function showField({ content, contentType, isCut }: Part, budget: Budget): string | null {
  const text = contentType === null && !isCut ? decodeText(content, null, false) : null
  return text === null ? null : showText(text, budget)
}

/** What is said of a body that is not shown. */
const typeOf = ({ content, contentType, isCut }: Part): string =>
  decodeText(content, contentType, isCut) === null
    ? 'binary'
    : (mediaType.exec(contentType ?? '')?.[1]?.toLowerCase() ?? 'text')

/** PostgreSQL stores neither U+0000 nor half a character. */
const storable = (text: string): string => text.replaceAll('\0', '\ufffd').toWellFormed()
