// Secrets in forms and queries: pairs joined by `&`. Pure.
import { formEscapes } from './redact-escapes.pure.ts'
import { isSecretName, meaningOf } from './redact-keys.pure.ts'
import { hide, isCutAt, lookInside, type Scan, type Span } from './redact-spans.pure.ts'

const nested = /[.[]/
// What is not escaped is also found by the scan that reads the form as plain text.
const escaped = /[+[]|%u?[0-9a-f]{2}/i
const costOfPair = 200

type Pairs = { hasName: boolean; isSecret: boolean; values: Span[] }

/** Finds what to hide in a form, apart from what plain text shows. */
export function findInForm(scan: Scan): void {
  const { text, isCut, spans } = scan
  const pairs: Pairs = { hasName: false, isSecret: false, values: [] }
  for (let start = 0, end = 0; start < text.length; start = end + 1) {
    end = text.indexOf('&', start)
    if (end < 0) end = text.length
    if (end > start) readPair(scan, start, end, pairs)
  }
  // Where no name has come yet, one of a secret may have been cut off.
  if (pairs.isSecret || (isCut && !pairs.hasName)) for (const value of pairs.values) spans.push(value)
}

function readPair(scan: Scan, start: number, end: number, pairs: Pairs): void {
  const { text, spans } = scan
  const equals = text.slice(start, end).indexOf('=')
  const keyEnd = equals < 0 ? end : start + equals
  const key = lookInside(scan, start, keyEnd, formEscapes)
  scan.spend(costOfPair)
  const meaning = meaningOf(key, scan.spend)
  if (meaning === 'secret') return void spans.push(hide(keyEnd + 1, end))
  const raw = text.slice(keyEnd + 1, end)
  const value = escaped.test(raw) ? lookInside(scan, keyEnd + 1, end, formEscapes) : raw
  const last = meaning === 'other' && nested.test(key) ? meaningOf(lastPart(key), scan.spend) : meaning
  if (last === 'value') pairs.values.push(hide(keyEnd + 1, end))
  if (last === 'name') {
    pairs.isSecret ||= isSecretName(value, scan.spend)
    pairs.hasName ||= !isCutAt(scan, end)
  }
}

/** `value` of `fields[0][value]`. */
const lastPart = (key: string): string => key.split(/[.[\]]+/).findLast((part) => part !== '') ?? ''
