// What the log of forwarded calls shows of headers, addresses and bodies: everything but secrets, and nothing of what
// would be too much work to judge. Pure.
import { decodeText } from './redact-decode.pure.ts'
import { findSecrets } from './redact-find.pure.ts'
import { isSecretHeader } from './redact-keys.pure.ts'
import { redactParts } from './redact-multipart.pure.ts'
import { redacted, replaceSpans, type Span } from './redact-spans.pure.ts'
import { findUserinfo } from './redact-text.pure.ts'
import { createWork, notJudged, spender, type Spend, within, type Work } from './redact-work.pure.ts'

const maxNestedParts = 3
const costOfHeader = 400
const costOfByte = 4
const [beginning, stepsOfBeginning] = [2_048, 200]

/** Headers as they are logged; `raw` is flat: name, value, name, value … */
export function redactHeaders(
  raw: readonly string[],
  work = createWork(raw.reduce((length, text) => length + text.length, 0)),
): { name: string; value: string }[] {
  const headers: { name: string; value: string }[] = []
  const spend = spender(work, false)
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const [name, value] = [raw[i] as string, raw[i + 1] as string]
    const show = (): string => {
      spend(costOfHeader)
      return isSecretHeader(name, spend) ? redacted : redactText(value, { isForm: false, isCut: false, work })
    }
    headers.push({ name: storable(name), value: within(show, notJudged) })
  }
  return headers
}

/** The URL with sensitive query values replaced. */
export function redactUrl(url: string, work = createWork(url.length)): string {
  const at = url.search(/[?;&#]/)
  const path = at < 0 ? url : url.slice(0, at + 1)
  // A fragment is written like a query where it carries something.
  const queries = url.slice(path.length).split('#')
  const showQueries = (): string =>
    queries.map((query) => redactText(query, { isForm: true, isCut: false, work })).join('#')
  return within(() => showPath(path, spender(work, false)), notJudged) + within(showQueries, notJudged)
}

function showPath(path: string, spend: Spend): string {
  const spans: Span[] = []
  findUserinfo({ text: path, spans, spend })
  return storable(replaceSpans(path, spans))
}

/**
 * What is logged of a body: `captured` is its beginning (at most 64 KiB are ever captured), `totalBytes` its whole
 * length.
 */
export function redactBody(
  captured: Buffer,
  about: { totalBytes: number; contentType: string | null; contentEncoding: string | null },
  work = createWork(captured.length),
): string {
  const isCut = captured.length < about.totalBytes
  const isEncoded = /[^\s,]/.test((about.contentEncoding ?? '').replaceAll(/\bidentity\b/gi, ''))
  const show = (): string | null =>
    showBody(captured, { contentType: about.contentType, isCut, nested: 0, work })
  const shown = isEncoded ? null : within(show, notJudged)
  if (shown === null) return about.totalBytes > 0 ? `[binary, ${about.totalBytes} bytes]` : ''
  return isCut ? `${shown} [cut: ${captured.length} of ${about.totalBytes} bytes]` : shown
}

type Body = { contentType: string | null; isCut: boolean; nested: number; work: Work }

function showBody(bytes: Buffer, { contentType, isCut, nested, work }: Body): string | null {
  const showPart = (content: Buffer, type: string | null, isPartCut: boolean): string =>
    showBody(content, { contentType: type, isCut: isPartCut, nested: nested + 1, work }) ??
    `[binary, ${content.length} bytes]`
  const isTooDeep = nested >= maxNestedParts
  const parts = redactParts(bytes, { contentType, isCut, isTooDeep, work, showPart })
  if (parts !== null) return storable(parts)
  spender(work, false)(bytes.length * costOfByte)
  const text = decodeText(bytes, contentType, isCut)
  if (text === null) return null
  const isForm = /form-urlencoded/i.test(contentType ?? '')
  if (text.length <= beginning) return redactText(text, { isForm, isCut, work })
  return within(() => redactText(text, { isForm, isCut, work }), null) ?? redactBeginning(text, isForm)
}

/** What is too much work as a whole may have a beginning that is not; it is judged like that of a text that was cut. */
function redactBeginning(text: string, isForm: boolean): string {
  const work: Work = { limit: beginning * stepsOfBeginning, spent: 0 }
  const about = { isForm, isCut: true, work }
  return within(() => `${redactText(text.slice(0, beginning), about)} ${notJudged}`, notJudged)
}

function redactText(text: string, about: { isForm: boolean; isCut: boolean; work: Work }): string {
  const shown = replaceSpans(text, findSecrets(text, about))
  // Many short values would make the text too long to keep.
  const maxLength = 2 * text.length + 1_000
  return storable(shown.length > maxLength ? shown.slice(0, maxLength) + redacted : shown)
}

/** PostgreSQL stores neither U+0000 nor half a character. */
const storable = (text: string): string => text.replaceAll('\0', '\ufffd').toWellFormed()
