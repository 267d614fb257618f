// Finds the secrets of a text by what it looks like, and of the texts inside of it. Pure.
import { formEscapes, jsonEscapes, xmlEscapes } from './escapes.ts'
import { findInForm } from './form.ts'
import { findInEmbeddedJson, findInJson, skipBlank } from './json.ts'
import { hide, isSuspicious, lookInside, type Scan, type Span } from './spans.ts'
import { findInText, queriesIn } from './text.ts'
import { findInXml } from './xml.ts'
import { nextMarkup } from './xml-tag.ts'

const maxDepth = 5
// Every character is read a few times: as JSON, as text, and once more at every depth it is nested. What would be read
// more often than this is made to be so, and hidden.
const maxReads = 8
const costOfRead = 16

const pairs = /[=&]/
const formStart = /^[^\s=:"<>&]*(?:=|&(?!#?\w{1,8};))/

/** What to hide in a text; `isForm` tells what a text without any other sign is. */
export function findSecrets(text: string, { isForm, isCut }: { isForm: boolean; isCut: boolean }): Span[] {
  let left = (text.length + 1_000) * maxReads
  const at =
    (depth: number): Scan['inside'] =>
    (nested, isNestedCut) => {
      if (!isSuspicious(nested, isNestedCut)) return []
      left -= nested.length + costOfRead
      if (left < 0 || (depth >= maxDepth && kindOf(nested) !== 'text')) return [hide(0, nested.length)]
      const scan: Scan = { text: nested, isCut: isNestedCut, spans: [], inside: at(depth + 1) }
      findIn(scan, depth === 0 && isForm)
      return scan.spans
    }
  return at(0)(text, isCut)
}

function findIn(scan: Scan, isForm: boolean): void {
  const kind = kindOf(scan.text)
  if (kind === 'xml') return findInXml(scan)
  if (kind === 'json' && findInJson(scan)) return
  const isPairs = isForm || kind === 'form'
  if (isPairs) findInForm(scan)
  findInAny(scan, isPairs)
}

/** Text may hold anything: names and values, JSON, XML, addresses, and all of them escaped. */
function findInAny(scan: Scan, isForm: boolean): void {
  const { text } = scan
  findInText(scan, isForm)
  findInEmbeddedJson(scan)
  if (nextMarkup(text, 0) < text.length) findInXml(scan)
  if (!isForm) findInQueries(scan)
  // Where pairs are, each value has escapes of its own.
  for (const escapes of pairs.test(text) ? [jsonEscapes, xmlEscapes] : [jsonEscapes, xmlEscapes, formEscapes])
    if (text.replaceAll(escapes.pattern, escapes.meaning) !== text) lookInside(scan, 0, text.length, escapes)
}

function findInQueries(scan: Scan): void {
  for (const { query, start, end } of queriesIn(scan.text)) {
    const isCut = scan.isCut && end === scan.text.length
    const form: Scan = { ...scan, text: query, isCut, spans: [] }
    findInForm(form)
    findInAny(form, true)
    for (const span of form.spans)
      scan.spans.push({ start: span.start + start, end: span.end + start, text: span.text })
  }
}

function kindOf(text: string): 'json' | 'xml' | 'form' | 'text' {
  const first = text[skipBlank(text, 0)]
  if (first === '{' || first === '[' || first === '"') return 'json'
  if (first === '<' && nextMarkup(text, 0) < text.length) return 'xml'
  return formStart.test(text) ? 'form' : 'text'
}
