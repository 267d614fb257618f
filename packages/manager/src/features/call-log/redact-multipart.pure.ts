// Bodies of several parts: each is shown by its name and type, files as a length. Works on bytes, since parts may be
// binary. Pure.
import { type Budget, spend } from './redact-budget.pure.ts'
import { isSecretHeader, meaningOf } from './redact-keys.pure.ts'
import { redacted } from './redact-spans.pure.ts'
import { showText } from './redact-text.pure.ts'

const multipart = /^\s*multipart\//i
const firstLine = /^(?:\r?\n)*(--[^\r\n]{1,200}?)[ \t]{0,100}\r?\n(content-)?/i
const delimiterEnd = /(--)?[ \t]*(?:\r?\n|$)/y
const [maxParts, maxHeadersLength] = [1_000, 8_192]
const header = /^([^:\s]{1,100}):([^\r\n]*(?:\r?\n[ \t][^\r\n]*)*)/gm
const nameParameter = /[;\s]name\*?\s*=\s*(?:"((?:[^"\\]|\\.)*)|([^;"]*))/gi
const fileParameter = /[;\s]filename\*?\s*=/i
const encoding = /^content-transfer-encoding:\s*(?!7bit|8bit|binary)\S/im
const type = /^content-type:([^\r\n]*)/im

export type Part = { content: Buffer; contentType: string | null; isCut: boolean }
type Parts = {
  budget: Budget
  /** Whether there are too many parts around this one to look into its own. */
  isTooDeep: boolean
  /** Shows the content of a part that is neither hidden nor a file. */
  showPart: (part: Part) => string
}

/** The parts with what is sensitive in them replaced; null when the body is not made of parts. */
export function redactParts({ content, contentType, isCut }: Part, parts: Parts): string | null {
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
    if (isPart) shown += showOne(content.subarray(at, start), isCut && end === bytes.length, parts)
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
  // Searched together with the line end before it, which it has only once: so no byte is compared over and over.
  const [text, wanted] = [`\n${bytes}`, `\n${delimiter}`]
  for (let start = text.indexOf(wanted); start >= 0; start = text.indexOf(wanted, start + 1)) {
    delimiterEnd.lastIndex = start + delimiter.length
    const match = delimiterEnd.exec(bytes)
    if (match !== null) lines.push({ start, end: delimiterEnd.lastIndex, isClosing: match[1] !== undefined })
  }
  return lines
}

function showOne(part: Buffer, isCut: boolean, parts: Parts): string {
  const bytes = part.toString('latin1')
  const blankLine = /(?:^|\r?\n)\r?\n/.exec(bytes)
  if (blankLine === null || blankLine.index > maxHeadersLength) return bytes.trim() === '' ? bytes : redacted
  const headEnd = blankLine.index + blankLine[0].length
  const [lineEnd = ''] = isCut ? [] : (/\r?\n$/.exec(bytes) ?? [])
  const content = part.subarray(headEnd, Math.max(headEnd, part.length - lineEnd.length))
  const head = part.subarray(0, headEnd).toString('utf8')
  return showHead(head, parts) + showContent(content, head, isCut, parts) + lineEnd
}

function showContent(content: Buffer, head: string, isCut: boolean, { showPart }: Parts): string {
  const parameters = head.replaceAll(/\r?\n[ \t]+/g, ' ')
  for (const [, quoted, bare] of parameters.matchAll(nameParameter))
    if (isSecretPart(quoted ?? bare ?? '')) return content.length > 0 ? redacted : ''
  if (fileParameter.test(parameters)) return `[file, ${content.length} bytes${isCut ? ' and more' : ''}]`
  if (encoding.test(parameters)) return `[binary, ${content.length} bytes]`
  return showPart({ content, contentType: type.exec(parameters)?.[1]?.trim() ?? null, isCut })
}

/** A name whose letters are encoded (RFC 2047) is not read, and counts as a secret. */
const isSecretPart = (name: string): boolean => meaningOf(name) === 'secret' || name.includes('=?')

const showHead = (head: string, { budget }: Parts): string =>
  head.replaceAll(header, (line: string, name: string, value: string) => {
    spend(budget)
    if (isSecretHeader(name)) return `${name}: ${redacted}`
    return /^content-disposition$/i.test(name) ? line : `${name}:${showText(value, budget)}`
  })
