// Secrets in forms and queries: pairs joined by `&`. Pure.
import { formEscapes } from './escapes.ts'
import { isSecretName, meaningOf } from './keys.ts'
import { hide, lookInside, type Scan, type Span } from './spans.ts'

// Half of an escape at the end of a cut text may look like the beginning of a pair.
const longestEscape = '&#x10ffff;'.length
const nested = /[.[]/
// What is not escaped is found in the form as it is, by whoever reads it as text as well.
const escaped = /[+[]|%u?[0-9a-f]{2}/i

/** Finds what to hide in a form, apart from what plain text shows. */
export function findInForm(scan: Scan): void {
  const { text, isCut, spans } = scan
  const values: Span[] = []
  let [hasName, isSecret] = [false, false]
  for (const { 0: pair, index: start } of text.matchAll(/[^&]+/g)) {
    const end = start + pair.length
    const equals = pair.indexOf('=')
    const keyEnd = equals < 0 ? end : start + equals
    const key = lookInside(scan, start, keyEnd, formEscapes)
    const meaning = meaningOf(key)
    if (meaning === 'secret') spans.push(hide(keyEnd + 1, end))
    else {
      const raw = text.slice(keyEnd + 1, end)
      const value = escaped.test(raw) ? lookInside(scan, keyEnd + 1, end, formEscapes) : raw
      const last = meaning === 'other' && nested.test(key) ? meaningOf(lastPart(key)) : meaning
      if (last === 'value') values.push(hide(keyEnd + 1, end))
      if (last === 'name') {
        isSecret ||= isSecretName(value)
        hasName ||= !isCut || end + longestEscape < text.length
      }
    }
  }
  // Where no name has come yet, one of a secret may have been cut off.
  if (isSecret || (isCut && !hasName)) spans.push(...values)
}

/** `value` of `fields[0][value]`. */
const lastPart = (key: string): string => key.split(/[.[\]]+/).findLast((part) => part !== '') ?? ''
