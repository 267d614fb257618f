// Bodies of several parts: each is shown by its name and type, files as a length. Works on bytes, since parts may be
// binary. Pure.
import { formEscapes, resolved } from './redact-escapes.pure.ts'
import { findSecrets } from './redact-find.pure.ts'
import { isSecretHeader, meaningOf } from './redact-keys.pure.ts'
import { redacted, replaceSpans } from './redact-spans.pure.ts'
import { notJudged, type Spend, spender, within, type Work } from './redact-work.pure.ts'

const multipart = /^\s*multipart\//i
const boundaryParameter = /;\s*boundary\s*=\s*(?:"([^"]{1,200})"|([^\s;"]{1,200}))/iy
const found = /^(?:\r?\n)*--([^\r\n]{1,200})\r?\n(?=content-)/i
const delimiterEnd = /(--)?[ \t]*(?:\r?\n|$)/y
const maxHeadersLength = 8_192
const header = /^([^:\s]{1,100}):([^\r\n]*(?:\r?\n[ \t][^\r\n]*)*)/gm
const nameParameter = /[;\s]name\*?\s*=\s*(?:"((?:[^"\\]|\\.)*)|([^;"]*))/gi
const fileParameter = /[;\s]filename\*?\s*=/i
const encoding = /^content-transfer-encoding:\s*(?!7bit|8bit|binary)\S/im
const type = /^content-type:([^\r\n]*)/im

// Of a byte, a line that begins like a delimiter, a part, a header of one and a parameter in it.
const [costOfByte, costOfLine, costOfPart, costOfHeader, costOfParameter] = [2, 100, 2_000, 700, 250]

type Parts = {
  contentType: string | null
  isCut: boolean
  /** Whether there are too many parts around this one to look into its own. */
  isTooDeep: boolean
  work: Work
  /** Shows the content of a part that is neither hidden nor a file. */
  showPart: (content: Buffer, contentType: string | null, isCut: boolean) => string
}

/** The parts with what is sensitive in them replaced; null when the body is not made of parts. */
export function redactParts(body: Buffer, parts: Parts): string | null {
  const spend = spender(parts.work, false)
  spend(body.length * costOfByte)
  const bytes = body.toString('latin1')
  const delimiters = delimitersIn(bytes, parts.contentType, spend)
  if (delimiters.length === 0) return null
  if (parts.isTooDeep) return redacted
  let [shown, at, isPart] = ['', 0, false]
  const show = (end: number): string => {
    if (isPart)
      return showOne(body.subarray(at, end), parts.isCut && end === bytes.length, { ...parts, spend })
    // Before the first part and after the last one is text that clients ignore.
    return bytes.slice(at, end).trim() === '' ? '' : redacted
  }
  for (const { start, end, isClosing } of [...delimiters, { start: bytes.length, end: bytes.length }]) {
    const next = within(() => show(start), null)
    // What follows would be too much work as well.
    if (next === null) return shown + notJudged
    shown += next + bytes.slice(start, end)
    ;[at, isPart] = [end, isClosing === false]
  }
  return shown
}

type Line = { start: number; end: number; isClosing?: boolean }

function delimitersIn(bytes: string, contentType: string | null, spend: Spend): Line[] {
  const sent = declaredBoundary(contentType ?? '')
  const delimiters = sent === undefined ? [] : linesOf(bytes, `--${sent}`, spend)
  const boundary = delimiters.length > 0 ? undefined : found.exec(bytes)?.[1]
  return boundary === undefined ? delimiters : linesOf(bytes, `--${boundary.trimEnd()}`, spend)
}

/**
 * The last one counts. Tried at each parameter instead of searched for, which would take blanks in all their divisions.
 */
function declaredBoundary(contentType: string): string | undefined {
  if (!multipart.test(contentType)) return undefined
  for (let at = contentType.lastIndexOf(';'); at > 0; at = contentType.lastIndexOf(';', at - 1)) {
    boundaryParameter.lastIndex = at
    const [, quoted, bare] = boundaryParameter.exec(contentType) ?? []
    if (quoted !== undefined || bare !== undefined) return quoted ?? bare
  }
  return undefined
}

function linesOf(bytes: string, delimiter: string, spend: Spend): Line[] {
  const lines: Line[] = []
  // Searched together with the line end before it, which it has only once: so no byte is compared over and over.
  const [text, wanted] = [`\n${bytes}`, `\n${delimiter}`]
  for (let start = text.indexOf(wanted); start >= 0; start = text.indexOf(wanted, start + 1)) {
    spend(costOfLine)
    delimiterEnd.lastIndex = start + delimiter.length
    const match = delimiterEnd.exec(bytes)
    if (match !== null) lines.push({ start, end: delimiterEnd.lastIndex, isClosing: match[1] !== undefined })
  }
  return lines
}

type Paid = Parts & { spend: Spend }

function showOne(part: Buffer, isCut: boolean, parts: Paid): string {
  parts.spend(costOfPart + part.length * costOfByte)
  const bytes = part.toString('latin1')
  const blankLine = /(?:^|\r?\n)\r?\n/.exec(bytes)
  if (blankLine === null || blankLine.index > maxHeadersLength) return bytes.trim() === '' ? bytes : redacted
  const headEnd = blankLine.index + blankLine[0].length
  const [lineEnd = ''] = isCut ? [] : (/\r?\n$/.exec(bytes) ?? [])
  const content = part.subarray(headEnd, Math.max(headEnd, part.length - lineEnd.length))
  const head = part.subarray(0, headEnd).toString('utf8')
  return showHead(head, parts) + showContent(content, head, isCut, parts) + lineEnd
}

function showContent(content: Buffer, head: string, isCut: boolean, { spend, showPart }: Paid): string {
  const parameters = head.replaceAll(/\r?\n[ \t]+/g, ' ')
  for (const [, quoted, bare] of parameters.matchAll(nameParameter))
    if (isSecretPart(quoted ?? bare ?? '', spend)) return content.length > 0 ? redacted : ''
  if (fileParameter.test(parameters)) return `[file, ${content.length} bytes${isCut ? ' and more' : ''}]`
  if (encoding.test(parameters)) return `[binary, ${content.length} bytes]`
  return showPart(content, type.exec(parameters)?.[1]?.trim() ?? null, isCut)
}

/** Names may be escaped; one whose letters are encoded (RFC 2047) is not read, and taken for secret. */
function isSecretPart(name: string, spend: Spend): boolean {
  const meant = resolved(name, formEscapes, spend)
  spend(costOfParameter)
  return meaningOf(meant, spend) === 'secret' || name.includes('=?')
}

const showHead = (head: string, { spend, work }: Paid): string =>
  head.replaceAll(header, (line: string, name: string, value: string) => {
    spend(costOfHeader)
    if (isSecretHeader(name, spend)) return `${name}: ${redacted}`
    return /^content-disposition$/i.test(name)
      ? line
      : `${name}:${replaceSpans(value, findSecrets(value, { isForm: false, isCut: false, work }))}`
  })
