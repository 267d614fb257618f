// This file redacts headers, URLs and bodies for the call log. Bodies that parse as JSON, XML, a form or multipart are
// shown without secrets. For all other bodies, only the type and the length are shown.
import { type Budget, createBudget, withinBudget } from './redact-budget.pure.ts'
import { decodeText } from './redact-decode.pure.ts'
import { isSecretHeader } from './redact-keys.pure.ts'
import { type Part, redactParts } from './redact-multipart.pure.ts'
import { redacted } from './redact-spans.pure.ts'
import { redactDocument, redactText, redactUrlQuery } from './redact-text.pure.ts'

const maxNestedParts = 3
const mediaType = /^\s*([\w.+-]{1,60}\/[\w.+-]{1,60})\s*(?:;|$)/

/** Redacts headers. `raw` is a flat list: name, value, name, value … */
export function redactHeaders(
  raw: readonly string[],
  budget = createBudget(),
): { name: string; value: string }[] {
  const headers: { name: string; value: string }[] = []
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const [name, value] = [raw[i] as string, raw[i + 1] as string]
    const shown = isSecretHeader(name) ? redacted : withinBudget(() => redactText(value, budget), redacted)
    headers.push({ name: storable(name), value: storable(shown) })
  }
  return headers
}

/** Returns the URL with sensitive query values redacted. */
export function redactUrl(url: string, budget = createBudget()): string {
  const at = url.search(/[?;&#]/)
  const path = at < 0 ? url : url.slice(0, at + 1)
  return storable(
    withinBudget(() => redactUrlQuery(url, budget), `${redactUrlQuery(path, createBudget())}${redacted}`),
  )
}

/**
 * Returns the text that is logged for a body. `captured` is its start, at most 64 KiB; `totalBytes` is its full length.
 */
export function redactBody(
  captured: Buffer,
  about: { totalBytes: number; contentType: string | null; contentEncoding: string | null },
  budget = createBudget(),
): string {
  const { totalBytes, contentType } = about
  const isEncoded = /[^\s,]/.test((about.contentEncoding ?? '').replaceAll(/\bidentity\b/gi, ''))
  const part: Part = { content: captured, contentType, isTruncated: captured.length < totalBytes }
  const shown = isEncoded ? null : withinBudget(() => redactContent(part, budget, 0), null)
  if (totalBytes === 0) return ''
  if (shown === null) return `[${isEncoded ? 'binary' : typeOf(part)}, ${totalBytes} bytes]`
  // With many short values, the redacted text would be too long to store.
  const maxLength = 2 * captured.length + 1_000
  const kept = storable(shown.length > maxLength ? shown.slice(0, maxLength) + redacted : shown)
  return part.isTruncated ? `${kept} [truncated: ${captured.length} of ${totalBytes} bytes]` : kept
}

/** Redacts a body or a part of one. Returns null if it does not parse. Throws if it exceeds the budget. */
function redactContent(body: Part, budget: Budget, nested: number): string | null {
  const redactPart = (part: Part): string =>
    redactContent(part, budget, nested + 1) ??
    redactField(part, budget) ??
    `[${typeOf(part)}, ${part.content.length} bytes${part.isTruncated ? ' and more' : ''}]`
  const parts = redactParts(body, { budget, isTooDeep: nested >= maxNestedParts, redactPart })
  if (parts !== null) return parts
  const text = decodeText(body.content, body.contentType, body.isTruncated)
  return text === null ? null : redactDocument(text, budget, body.isTruncated)
}

/** A part without a content type is a form field, and is redacted like a form value. */
function redactField({ content, contentType, isTruncated }: Part, budget: Budget): string | null {
  const text = contentType === null && !isTruncated ? decodeText(content, null, false) : null
  return text === null ? null : redactText(text, budget)
}

/** Returns the type that the log shows instead of the body. */
const typeOf = ({ content, contentType, isTruncated }: Part): string =>
  decodeText(content, contentType, isTruncated) === null
    ? 'binary'
    : (mediaType.exec(contentType ?? '')?.[1]?.toLowerCase() ?? 'text')

/** PostgreSQL stores neither U+0000 nor lone surrogates. */
const storable = (text: string): string => text.replaceAll('\0', '\ufffd').toWellFormed()
