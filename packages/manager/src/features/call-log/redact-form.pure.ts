// Secrets in forms and queries: pairs joined by `&`. Pure.
import type { Look } from './redact-budget.pure.ts'
import { percentDecoded } from './redact-decode.pure.ts'
import { isSecretName, type Meaning, meaningOf } from './redact-keys.pure.ts'
import { redacted } from './redact-spans.pure.ts'

type Pair = {
  raw: string
  shown: string
  /** Shown without its value. */
  hidden: string
  isSecret: boolean
  /** The meaning of the last part of its key: that of `fields[0][value]` is `value`. */
  role: Meaning
  value: string
}

// A pair that follows an `&` which belongs to the value before it.
const restOfValue = /^(?:[^=]+$|#?\w{1,8};)/
const partEnd = /[^\p{L}\p{N}_-]+/u
const userinfo = /(:\/\/)[^\s/?#"'<>]*@/g

/** The form with what is secret replaced, up to its last complete pair if it is cut. */
export function redactForm(text: string, look: Look): string {
  const raw = text.split('&')
  if (look.isCut) raw.pop()
  if (raw.length === 0) throw new Error('no pair is complete')
  const pairs = raw.map((pair) => readPair(pair, look))
  // In a form that is cut, the name of a secret may still have followed.
  const isNamed = look.isCut || pairs.some(({ role, value }) => role === 'name' && isSecretName(value))
  let isInSecret = false
  const showPair = ({ raw, shown, hidden, isSecret, role }: Pair): string => {
    const isRest = isInSecret && restOfValue.test(raw)
    isInSecret = isSecret || isRest
    return isRest ? redacted : isNamed && role === 'value' ? hidden : shown
  }
  return pairs.map(showPair).join('&')
}

/** The address with what is secret in its query and fragment replaced. */
export function redactAddress(url: string, look: Look): string {
  const at = url.search(/[?;&#]/)
  const path = at < 0 ? url : url.slice(0, at + 1)
  // A fragment is written like a query where it carries something.
  const queries = url.slice(path.length).split('#')
  return (
    path.replaceAll(userinfo, `$1${redacted}@`) + queries.map((query) => redactForm(query, look)).join('#')
  )
}

function readPair(raw: string, look: Look): Pair {
  look.spend()
  const equals = raw.indexOf('=')
  const [rawKey, rawValue] = equals < 0 ? [raw, null] : [raw.slice(0, equals), raw.slice(equals + 1)]
  const shownKey = shownOf(rawKey, look)
  if (rawValue === null)
    return { raw, shown: shownKey, hidden: redacted, isSecret: false, role: 'other', value: '' }
  const key = decode(rawKey)
  const meaning = meaningOf(key)
  const isSecret = meaning === 'secret'
  const role = meaning === 'name' || meaning === 'value' ? meaning : meaningOf(lastPart(key))
  const hidden = `${shownKey}=${rawValue === '' ? '' : redacted}`
  const shown = isSecret ? hidden : `${shownKey}=${shownOf(rawValue, look)}`
  return { raw, shown, hidden, isSecret, role, value: decode(rawValue) }
}

const decode = (text: string): string => percentDecoded(text.replaceAll('+', ' '))

/** A key or a value as it was written, or written again when it has something to hide inside. */
function shownOf(raw: string, { inside }: Look): string {
  const text = decode(raw)
  const shown = inside(text)
  return shown === text
    ? raw
    : encodeURIComponent(shown.toWellFormed()).replaceAll('%5BREDACTED%5D', redacted)
}

const lastPart = (key: string): string => key.split(partEnd).findLast((part) => part !== '') ?? ''
