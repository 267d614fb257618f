// This file redacts secrets in forms and queries, which are pairs joined by `&`.
import type { RedactionContext } from './redact-budget.pure.ts'
import { percentDecoded } from './redact-decode.pure.ts'
import { isSecretName, type Meaning, meaningOf } from './redact-keys.pure.ts'
import { redacted } from './redact-spans.pure.ts'

type Pair = {
  raw: string
  shown: string
  /** The pair with its value redacted. */
  hidden: string
  isSecret: boolean
  /** The meaning of the last part of its key; for `fields[0][value]` it is `value`. */
  role: Meaning
  value: string
}

// Matches a pair that belongs to the previous value, because that value contains an unescaped `&`.
const restOfValue = /^(?:[^=]+$|#?\w{1,8};)/
const partEnd = /[^\p{L}\p{N}_-]+/u
const userinfo = /(:\/\/)[^\s/?#"'<>]*@/g

/** Redacts the secrets in a form. If the form is truncated, its incomplete last pair is dropped. */
export function redactForm(text: string, context: RedactionContext): string {
  const raw = text.split('&')
  if (context.isTruncated) raw.pop()
  if (raw.length === 0) throw new Error('no pair is complete')
  const pairs = raw.map((pair) => readPair(pair, context))
  // In a truncated form, the name of a secret may be in the missing part.
  const isNamed =
    context.isTruncated || pairs.some(({ role, value }) => role === 'name' && isSecretName(value))
  let isInSecret = false
  const renderPair = ({ raw, shown, hidden, isSecret, role }: Pair): string => {
    const isRest = isInSecret && restOfValue.test(raw)
    isInSecret = isSecret || isRest
    return isRest ? redacted : isNamed && role === 'value' ? hidden : shown
  }
  return pairs.map(renderPair).join('&')
}

/** Redacts the secrets in the query and fragment of a URL. */
export function redactAddress(url: string, context: RedactionContext): string {
  const at = url.search(/[?;&#]/)
  const path = at < 0 ? url : url.slice(0, at + 1)
  // A fragment that contains data has the format of a query.
  const queries = url.slice(path.length).split('#')
  return (
    path.replaceAll(userinfo, `$1${redacted}@`) + queries.map((query) => redactForm(query, context)).join('#')
  )
}

function readPair(raw: string, context: RedactionContext): Pair {
  context.spend()
  const equals = raw.indexOf('=')
  const [rawKey, rawValue] = equals < 0 ? [raw, null] : [raw.slice(0, equals), raw.slice(equals + 1)]
  const shownKey = shownOf(rawKey, context)
  if (rawValue === null)
    return { raw, shown: shownKey, hidden: redacted, isSecret: false, role: 'other', value: '' }
  const key = decode(rawKey)
  const meaning = meaningOf(key)
  const isSecret = meaning === 'secret'
  const role = meaning === 'name' || meaning === 'value' ? meaning : meaningOf(lastPart(key))
  const hidden = `${shownKey}=${rawValue === '' ? '' : redacted}`
  const shown = isSecret ? hidden : `${shownKey}=${shownOf(rawValue, context)}`
  return { raw, shown, hidden, isSecret, role, value: decode(rawValue) }
}

const decode = (text: string): string => percentDecoded(text.replaceAll('+', ' '))

/** Returns a key or value unchanged, or encodes it again if an embedded secret was redacted. */
function shownOf(raw: string, { inside }: RedactionContext): string {
  const text = decode(raw)
  const shown = inside(text)
  return shown === text
    ? raw
    : encodeURIComponent(shown.toWellFormed()).replaceAll('%5BREDACTED%5D', redacted)
}

const lastPart = (key: string): string => key.split(partEnd).findLast((part) => part !== '') ?? ''
