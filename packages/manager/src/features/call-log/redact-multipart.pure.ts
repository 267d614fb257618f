// Redacts multipart bodies. The name and type of a part determine how the log shows the part. For a file, the log shows
// only the length. The code works on bytes, because parts can be binary.
import { type Budget, spend } from './redact-budget.pure.ts'
import { isSecretHeader, getMeaning } from './redact-keys.pure.ts'
import { redactionMarker } from './redact-spans.pure.ts'
import { redactText } from './redact-text.pure.ts'

const multipart = /^\s*multipart\//i
const firstLine = /^(?:\r?\n)*(--[^\r\n]{1,300})\r?\n(content-)?/i
const delimiterEnd = /(--)?[ \t]*(?:\r?\n|$)/y
const [maxParts, maxHeadersLength] = [1_000, 8_192]
const headLine = /[^\r\n]+(?:\r?\n[ \t][^\r\n]*)*/g
const header = /^([^:\s]{1,100}):([^]*)$/
const dispositionType = /^\s*[\w-]{1,40}/
const partParameter = /;\s*(?:file)?name\*?\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"\\]*))/gi
// A name in several parameters (RFC 2231) is not joined; it counts as secret.
const splitName = /[;\s]name\*\d/i
const nameParameter = /[;\s]name\*?\s*=\s*(?:"((?:[^"\\]|\\.)*)|([^;"]*))/gi
const fileParameter = /[;\s]filename\*?\s*=/i
const transferEncoding = /^content-transfer-encoding:\s*(?!7bit|8bit|binary)\S/im
const typeHeader = /^content-type:([^\r\n]*)/im

export type Part = { content: Buffer; contentType: string | null; isTruncated: boolean }
type PartOptions = {
  budget: Budget
  /** Whether the nesting is too deep to parse the parts of this body. */
  isTooDeep: boolean
  /** Redacts the content of a part that is neither secret nor a file. */
  redactPart: (part: Part) => string
}

/** Redacts the parts of a body. Returns null if the body is not multipart. */
export function redactParts(
  { content, contentType, isTruncated }: Part,
  options: PartOptions,
): string | null {
  const bytes = content.toString('latin1')
  const [, line, hasHead] = firstLine.exec(bytes) ?? []
  const isDeclared = multipart.test(contentType ?? '')
  if (line === undefined || (hasHead === undefined && !isDeclared)) return null
  const lines = findDelimiterLines(bytes, trimTrailingBlanks(line))
  if (options.isTooDeep || lines.length > maxParts) return redactionMarker
  let [output, at, isPart] = ['', 0, false]
  for (const { start, end, isClosing } of [
    ...lines,
    { start: bytes.length, end: bytes.length, isClosing: true },
  ]) {
    spend(options.budget)
    if (isPart)
      output += redactRawPart(content.subarray(at, start), isTruncated && end === bytes.length, options)
    // Clients ignore text after the last part.
    else if (bytes.slice(at, start).trim() !== '') output += redactionMarker
    output += bytes.slice(start, end)
    ;[at, isPart] = [end, !isClosing]
  }
  return output
}

/** Removes spaces and tabs after the boundary, which is not empty. `trimEnd` would also remove other characters. */
function trimTrailingBlanks(line: string): string {
  let end = line.length
  while (end > 3 && ' \t'.includes(line.charAt(end - 1))) end -= 1
  return line.slice(0, end)
}

type DelimiterLine = { start: number; end: number; isClosing: boolean }

function findDelimiterLines(bytes: string, delimiter: string): DelimiterLine[] {
  const lines: DelimiterLine[] = []
  // The search pattern contains a line break only at its start, so the search never compares a byte twice.
  const [text, pattern] = [`\n${bytes}`, `\n${delimiter}`]
  for (let start = text.indexOf(pattern); start >= 0; start = text.indexOf(pattern, start + 1)) {
    delimiterEnd.lastIndex = start + delimiter.length
    const match = delimiterEnd.exec(bytes)
    if (match !== null) lines.push({ start, end: delimiterEnd.lastIndex, isClosing: match[1] !== undefined })
  }
  return lines
}

function redactRawPart(part: Buffer, isTruncated: boolean, options: PartOptions): string {
  const bytes = part.toString('latin1')
  const blankLine = /(?:^|\r?\n)\r?\n/.exec(bytes)
  if (blankLine === null || blankLine.index > maxHeadersLength)
    return bytes.trim() === '' ? bytes : redactionMarker
  const headEnd = blankLine.index + blankLine[0].length
  const [lineEnd = ''] = isTruncated ? [] : (/\r?\n$/.exec(bytes) ?? [])
  const content = part.subarray(headEnd, Math.max(headEnd, part.length - lineEnd.length))
  const head = part.subarray(0, headEnd).toString('utf8')
  return redactPartHead(head, options) + redactPartContent(content, head, isTruncated, options) + lineEnd
}

function redactPartContent(
  content: Buffer,
  head: string,
  isTruncated: boolean,
  { redactPart }: PartOptions,
): string {
  const parameters = head.replaceAll(/\r?\n[ \t]+/g, ' ')
  const names = [...parameters.matchAll(nameParameter)].map(([, quoted, bare]) => quoted ?? bare ?? '')
  if (splitName.test(parameters) || names.some(isSecretPart)) return content.length > 0 ? redactionMarker : ''
  if (fileParameter.test(parameters))
    return `[file, ${content.length} bytes${isTruncated ? ' and more' : ''}]`
  if (transferEncoding.test(parameters)) return `[binary, ${content.length} bytes]`
  return redactPart({ content, contentType: typeHeader.exec(parameters)?.[1]?.trim() ?? null, isTruncated })
}

/** Encoded names (RFC 2047) are not decoded; they count as secret. */
const isSecretPart = (name: string): boolean => getMeaning(name) === 'secret' || name.includes('=?')

const redactPartHead = (head: string, { budget }: PartOptions): string =>
  head.replaceAll(headLine, (line: string) => {
    spend(budget)
    const [, name, value = ''] = header.exec(line) ?? []
    if (name === undefined) return redactionMarker
    const isDisposition = /^content-disposition$/i.test(name)
    if (isSecretHeader(name) || (isDisposition && !isPlainDisposition(value, budget)))
      return `${name}: ${redactionMarker}`
    return isDisposition ? line : `${name}:${redactText(value, budget)}`
  })

/** Returns whether the header consists of a type and names of parts and files, and no name contains a secret. */
function isPlainDisposition(value: string, budget: Budget): boolean {
  const type = dispositionType.exec(value)?.[0] ?? ''
  const rest = value
    .slice(type.length)
    .replaceAll(partParameter, (parameter: string, quoted?: string, bare = '') => {
      const name = quoted?.replaceAll(/\\(.)/g, '$1') ?? bare
      return redactText(name, budget) === name ? '' : parameter
    })
  return type !== '' && /^[\s;]*$/.test(rest)
}
