// This file redacts multipart bodies. Each part is shown according to its name and type; files are shown as a length.
// It works on bytes, because parts can be binary.
import { type Budget, spend } from './redact-budget.pure.ts'
import { isSecretHeader, meaningOf } from './redact-keys.pure.ts'
import { redacted } from './redact-spans.pure.ts'
import { redactText } from './redact-text.pure.ts'

const multipart = /^\s*multipart\//i
const firstLine = /^(?:\r?\n)*(--[^\r\n]{1,200}?)[ \t]{0,100}\r?\n(content-)?/i
const delimiterEnd = /(--)?[ \t]*(?:\r?\n|$)/y
const [maxParts, maxHeadersLength] = [1_000, 8_192]
const header = /^([^:\s]{1,100}):([^\r\n]*(?:\r?\n[ \t][^\r\n]*)*)/gm
const nameParameter = /[;\s]name\*?\s*=\s*(?:"((?:[^"\\]|\\.)*)|([^;"]*))/gi
const fileParameter = /[;\s]filename\*?\s*=/i
const encoding = /^content-transfer-encoding:\s*(?!7bit|8bit|binary)\S/im
const type = /^content-type:([^\r\n]*)/im

export type Part = { content: Buffer; contentType: string | null; isTruncated: boolean }
type Parts = {
  budget: Budget
  /** Whether the nesting is too deep to parse the parts of this body. */
  isTooDeep: boolean
  /** Redacts the content of a part that is neither secret nor a file. */
  redactPart: (part: Part) => string
}

/** Redacts the parts of a body. Returns null if the body is not multipart. */
export function redactParts({ content, contentType, isTruncated }: Part, parts: Parts): string | null {
  const bytes = content.toString('latin1')
  const [, delimiter, hasHead] = firstLine.exec(bytes) ?? []
  const isDeclared = multipart.test(contentType ?? '')
  if (delimiter === undefined || (hasHead === undefined && !isDeclared)) return null
  const lines = linesOf(bytes, delimiter)
  if (parts.isTooDeep || lines.length > maxParts) return redacted
  let [shown, at, isPart] = ['', 0, false]
  for (const { start, end, isClosing } of [
    ...lines,
    { start: bytes.length, end: bytes.length, isClosing: true },
  ]) {
    spend(parts.budget)
    if (isPart) shown += redactOne(content.subarray(at, start), isTruncated && end === bytes.length, parts)
    // Clients ignore the text after the last part.
    else if (bytes.slice(at, start).trim() !== '') shown += redacted
    shown += bytes.slice(start, end)
    ;[at, isPart] = [end, !isClosing]
  }
  return shown
}

type Line = { start: number; end: number; isClosing: boolean }

function linesOf(bytes: string, delimiter: string): Line[] {
  const lines: Line[] = []
  // The search includes the preceding line break, which the delimiter contains only once. No byte is compared
  // repeatedly.
  const [text, wanted] = [`\n${bytes}`, `\n${delimiter}`]
  for (let start = text.indexOf(wanted); start >= 0; start = text.indexOf(wanted, start + 1)) {
    delimiterEnd.lastIndex = start + delimiter.length
    const match = delimiterEnd.exec(bytes)
    if (match !== null) lines.push({ start, end: delimiterEnd.lastIndex, isClosing: match[1] !== undefined })
  }
  return lines
}

function redactOne(part: Buffer, isTruncated: boolean, parts: Parts): string {
  const bytes = part.toString('latin1')
  const blankLine = /(?:^|\r?\n)\r?\n/.exec(bytes)
  if (blankLine === null || blankLine.index > maxHeadersLength) return bytes.trim() === '' ? bytes : redacted
  const headEnd = blankLine.index + blankLine[0].length
  const [lineEnd = ''] = isTruncated ? [] : (/\r?\n$/.exec(bytes) ?? [])
  const content = part.subarray(headEnd, Math.max(headEnd, part.length - lineEnd.length))
  const head = part.subarray(0, headEnd).toString('utf8')
  return redactPartHead(head, parts) + redactPartContent(content, head, isTruncated, parts) + lineEnd
}

function redactPartContent(
  content: Buffer,
  head: string,
  isTruncated: boolean,
  { redactPart }: Parts,
): string {
  const parameters = head.replaceAll(/\r?\n[ \t]+/g, ' ')
  for (const [, quoted, bare] of parameters.matchAll(nameParameter))
    if (isSecretPart(quoted ?? bare ?? '')) return content.length > 0 ? redacted : ''
  if (fileParameter.test(parameters))
    return `[file, ${content.length} bytes${isTruncated ? ' and more' : ''}]`
  if (encoding.test(parameters)) return `[binary, ${content.length} bytes]`
  return redactPart({ content, contentType: type.exec(parameters)?.[1]?.trim() ?? null, isTruncated })
}

/** Encoded names (RFC 2047) are not decoded and count as secret. */
const isSecretPart = (name: string): boolean => meaningOf(name) === 'secret' || name.includes('=?')

const redactPartHead = (head: string, { budget }: Parts): string =>
  head.replaceAll(header, (line: string, name: string, value: string) => {
    spend(budget)
    if (isSecretHeader(name)) return `${name}: ${redacted}`
    return /^content-disposition$/i.test(name) ? line : `${name}:${redactText(value, budget)}`
  })
