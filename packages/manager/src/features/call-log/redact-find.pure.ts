// Finds the secrets of a text by what it looks like, and of the texts inside of it. Pure.
import { signs, signsOf } from './redact-characters.pure.ts'
import { formEscapes, hasEscape, jsonEscapes, xmlEscapes } from './redact-escapes.pure.ts'
import { findInForm } from './redact-form.pure.ts'
import { findInEmbeddedJson, findInJson, skipBlank } from './redact-json.pure.ts'
import { hide, isSuspicious, lookInside, type Scan, type Span, isCutAt } from './redact-spans.pure.ts'
import { findInText, queriesIn, type Query } from './redact-text.pure.ts'
import { findInXml } from './redact-xml.pure.ts'
import { isSpent, spender, within, type Work } from './redact-work.pure.ts'
import { nextMarkup } from './redact-xml-tag.pure.ts'

const maxDepth = 5
// Of telling whether there is something in a character, of a text, of telling what a character is, and of replacing.
const [costOfSuspicion, costOfText, costOfCharacter, costOfSpan] = [6, 900, 4, 60]

const pairs = /[=&]/
const formStart = /^[^\s=:"<>&]*(?:=|&(?!#?\w{1,8};))/

/** What to hide in a text; `isForm` tells what a text without any other sign is. Throws when that is too much work. */
export function findSecrets(
  text: string,
  { isForm, isCut, work }: { isForm: boolean; isCut: boolean; work: Work },
): Span[] {
  const [own, nested] = [spender(work, false), spender(work, true)]
  const at = (depth: number): Scan['inside'] => {
    const find = (scan: Scan): Span[] => {
      scan.spend(costOfText + scan.text.length * costOfCharacter)
      if (depth >= maxDepth && kindOf(scan.text) !== 'text') return [hide(0, scan.text.length)]
      findIn(scan, depth === 0 && isForm)
      return scan.spans
    }
    return (text, isCut) => {
      // The outer text pays: where nothing is left for texts inside of it, it still tells which of them are harmless.
      ;(depth > 1 ? nested : own)(text.length * costOfSuspicion)
      if (!isSuspicious(text, isCut)) return []
      const scan: Scan = { text, isCut, spans: [], spend: depth > 0 ? nested : own, inside: at(depth + 1) }
      if (depth === 0) return find(scan)
      const all = [hide(0, text.length)]
      return isSpent(work) ? all : within(() => find(scan), all)
    }
  }
  own(costOfText)
  const found = at(0)(text, isCut)
  own(found.length * costOfSpan)
  return found
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
  const has = signsOf(text)
  // The whole of a form is a query.
  const queries = isForm || (has & signs.query) === 0 ? [] : queriesIn(scan)
  findInText(scan, isForm, queries)
  if ((has & signs.brace) !== 0) findInEmbeddedJson(scan)
  if ((has & signs.markup) !== 0 && nextMarkup(text, 0) < text.length) findInXml(scan)
  for (const query of queries) findInQuery(scan, query)
  // Where there are pairs, each value has its own escapes.
  for (const escapes of pairs.test(text) ? [jsonEscapes, xmlEscapes] : [jsonEscapes, xmlEscapes, formEscapes])
    if (hasEscape(text, escapes, scan.spend)) lookInside(scan, 0, text.length, escapes)
}

function findInQuery(scan: Scan, { query, start, end }: Query): void {
  scan.spend(costOfText + query.length * costOfCharacter)
  const isCut = isCutAt(scan, end)
  const form: Scan = { text: query, isCut, spans: [], spend: scan.spend, inside: scan.inside }
  findInForm(form)
  findInAny(form, true)
  for (const span of form.spans)
    scan.spans.push({ start: span.start + start, end: span.end + start, text: span.text })
}

function kindOf(text: string): 'json' | 'xml' | 'form' | 'text' {
  const first = text[skipBlank(text, 0)]
  if (first === '{' || first === '[' || first === '"') return 'json'
  if (first === '<' && nextMarkup(text, 0) < text.length) return 'xml'
  return formStart.test(text) ? 'form' : 'text'
}
