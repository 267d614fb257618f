// Redacts headers, URLs and bodies for the call log. Bodies that parse as JSON, XML, a form or multipart are
// logged without secrets. For all other bodies, only the type and the length are logged.
import { type Budget, createBudget, runWithinBudget } from './redact-budget.pure.ts'
import { decodeText } from './redact-decode.pure.ts'
import { isSecretHeader } from './redact-keys.pure.ts'
import { type Part, redactParts } from './redact-multipart.pure.ts'
import { redactionMarker } from './redact-spans.pure.ts'
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
    const redactedText = isSecretHeader(name)
      ? redactionMarker
      : runWithinBudget(() => redactText(value, budget), redactionMarker)
    headers.push({ name: toStorableText(name), value: toStorableText(redactedText) })
  }
  return headers
}

/** Returns the URL with sensitive query values redacted. */
export function redactUrl(url: string, budget = createBudget()): string {
  const at = url.search(/[?;&#]/)
  const path = at < 0 ? url : url.slice(0, at + 1)
  return toStorableText(
    runWithinBudget(
      () => redactUrlQuery(url, budget),
      `${redactUrlQuery(path, createBudget())}${redactionMarker}`,
    ),
  )
}

/**
 * Returns the text to log for a body. `captured` is the start of the body, at most 64 KiB. `totalBytes` is its full
 * length.
 */
export function redactBody(
  capturedBody: Buffer,
  bodyInfo: { totalBytes: number; contentType: string | null; contentEncoding: string | null },
  budget = createBudget(),
): string {
  const { totalBytes, contentType } = bodyInfo
  const isEncoded = /[^\s,]/.test((bodyInfo.contentEncoding ?? '').replaceAll(/\bidentity\b/gi, ''))
  const part: Part = { content: capturedBody, contentType, isTruncated: capturedBody.length < totalBytes }
  const redactedText = isEncoded ? null : runWithinBudget(() => redactContent(part, budget, 0), null)
  if (totalBytes === 0) return ''
  if (redactedText === null) return `[${isEncoded ? 'binary' : describeType(part)}, ${totalBytes} bytes]`
  // The marker is longer than a short value, so redacting many short values could produce text that is too long to
  // store.
  const maxLength = 2 * capturedBody.length + 1_000
  const storedText = toStorableText(
    redactedText.length > maxLength ? redactedText.slice(0, maxLength) + redactionMarker : redactedText,
  )
  return part.isTruncated
    ? `${storedText} [truncated: ${capturedBody.length} of ${totalBytes} bytes]`
    : storedText
}

/** Redacts a body or a part of a body. Returns null if it does not parse. Throws if it exceeds the budget. */
function redactContent(body: Part, budget: Budget, nested: number): string | null {
  const redactPart = (part: Part): string =>
    redactContent(part, budget, nested + 1) ??
    redactField(part, budget) ??
    `[${describeType(part)}, ${part.content.length} bytes${part.isTruncated ? ' and more' : ''}]`
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
const describeType = ({ content, contentType, isTruncated }: Part): string =>
  decodeText(content, contentType, isTruncated) === null
    ? 'binary'
    : (mediaType.exec(contentType ?? '')?.[1]?.toLowerCase() ?? 'text')

/** Replaces U+0000 and lone surrogates, which PostgreSQL cannot store. */
const toStorableText = (text: string): string => text.replaceAll('\0', '\ufffd').toWellFormed()
