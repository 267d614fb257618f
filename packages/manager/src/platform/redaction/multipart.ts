// Bodies of several parts: each is shown by its name and type, files as a length. Works on bytes, since parts may be
// binary. Pure.
import { formEscapes } from './escapes.ts'
import { findSecrets } from './find.ts'
import { isSecretHeader, meaningOf } from './keys.ts'
import { read, redacted, replaceSpans, startReading } from './spans.ts'

const declared = /^\s*multipart\/.*;\s*boundary\s*=\s*(?:"([^"]{1,200})"|([^\s;"]{1,200}))/i
const found = /^(?:\r?\n)*--([^\r\n]{1,200})\r?\n(?=content-)/i
const delimiterEnd = /(--)?[ \t]*(?:\r?\n|$)/y
const maxHeadersLength = 8_192
const header = /^([^:\s]{1,100}):([^\r\n]*(?:\r?\n[ \t][^\r\n]*)*)/gm
const nameParameter = /[;\s]name\*?\s*=\s*(?:"((?:[^"\\]|\\.)*)|([^;"]*))/gi
const fileParameter = /[;\s]filename\*?\s*=/i
const encoding = /^content-transfer-encoding:\s*(?!7bit|8bit|binary)\S/im
const type = /^content-type:([^\r\n]*)/im

type Parts = {
  contentType: string | null
  isCut: boolean
  /** Shows the content of a part that is neither hidden nor a file. */
  showPart: (content: Buffer, contentType: string | null, isCut: boolean) => string
}

/** The parts with what is sensitive in them replaced; null when the body is not made of parts. */
export function redactParts(body: Buffer, { contentType, isCut, showPart }: Parts): string | null {
  const bytes = body.toString('latin1')
  const delimiters = delimitersIn(bytes, contentType)
  if (delimiters.length === 0) return null
  let [shown, at, isPart] = ['', 0, false]
  for (const { start, end, isClosing } of [...delimiters, { start: bytes.length, end: bytes.length }]) {
    const isUnfinished = isCut && start === bytes.length
    if (isPart) shown += showOne(body.subarray(at, start), isUnfinished, showPart)
    // Before the first part and after the last one stands what nobody is meant to read.
    else if (bytes.slice(at, start).trim() !== '') shown += redacted
    shown += bytes.slice(start, end)
    ;[at, isPart] = [end, isClosing === false]
  }
  return shown
}

function delimitersIn(bytes: string, contentType: string | null) {
  const [, quoted, bare] = declared.exec(contentType ?? '') ?? []
  const sent = quoted ?? bare
  const delimiters = sent === undefined ? [] : linesOf(bytes, `--${sent}`)
  const boundary = delimiters.length > 0 ? undefined : found.exec(bytes)?.[1]
  return boundary === undefined ? delimiters : linesOf(bytes, `--${boundary.trimEnd()}`)
}

function linesOf(bytes: string, delimiter: string) {
  const lines: { start: number; end: number; isClosing?: boolean }[] = []
  for (let start = bytes.indexOf(delimiter); start >= 0; start = bytes.indexOf(delimiter, start + 1)) {
    delimiterEnd.lastIndex = start + delimiter.length
    const match = start === 0 || bytes[start - 1] === '\n' ? delimiterEnd.exec(bytes) : null
    if (match !== null) lines.push({ start, end: delimiterEnd.lastIndex, isClosing: match[1] !== undefined })
  }
  return lines
}

function showOne(part: Buffer, isCut: boolean, showPart: Parts['showPart']): string {
  const bytes = part.toString('latin1')
  const blankLine = /(?:^|\r?\n)\r?\n/.exec(bytes)
  if (blankLine === null || blankLine.index > maxHeadersLength) return bytes.trim() === '' ? bytes : redacted
  const headEnd = blankLine.index + blankLine[0].length
  const [lineEnd = ''] = isCut ? [] : (/\r?\n$/.exec(bytes) ?? [])
  const content = part.subarray(headEnd, Math.max(headEnd, part.length - lineEnd.length))
  const head = part.subarray(0, headEnd).toString('utf8')
  return showHead(head) + showContent(content, { head, isCut, showPart }) + lineEnd
}

function showContent(
  content: Buffer,
  { head, isCut, showPart }: { head: string; isCut: boolean; showPart: Parts['showPart'] },
): string {
  const parameters = head.replaceAll(/\r?\n[ \t]+/g, ' ')
  if ([...parameters.matchAll(nameParameter)].some(([, quoted, bare]) => isSecretPart(quoted ?? bare ?? '')))
    return content.length > 0 ? redacted : ''
  if (fileParameter.test(parameters)) return `[file, ${content.length} bytes${isCut ? ' and more' : ''}]`
  if (encoding.test(parameters)) return `[binary, ${content.length} bytes]`
  return showPart(content, type.exec(parameters)?.[1]?.trim() ?? null, isCut)
}

/** Names may be escaped; one whose letters are encoded (RFC 2047) is not read, and taken for secret. */
function isSecretPart(name: string): boolean {
  const reading = startReading()
  read(reading, name, 0, formEscapes)
  return meaningOf(reading.text) === 'secret' || name.includes('=?')
}

const showHead = (head: string): string =>
  head.replaceAll(header, (line: string, name: string, value: string) => {
    if (isSecretHeader(name)) return `${name}: ${redacted}`
    return /^content-disposition$/i.test(name)
      ? line
      : `${name}:${replaceSpans(value, findSecrets(value, { isForm: false, isCut: false }))}`
  })
