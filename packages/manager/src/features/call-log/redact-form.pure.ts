// Redacts secrets in forms and queries, which are pairs joined by `&`.
import type { RedactionContext } from './redact-budget.pure.ts'
import { decodePercentEscapes } from './redact-decode.pure.ts'
import { isSecretName, type Meaning, getMeaning } from './redact-keys.pure.ts'
import { redactionMarker } from './redact-spans.pure.ts'

type Pair = {
  raw: string
  visibleText: string
  /** The pair with its value redacted. */
  hiddenText: string
  isSecret: boolean
  /** The meaning of the last part of the key. For `fields[0][value]`, it is `value`. */
  role: Meaning
  value: string
}

// Matches a pair that belongs to the previous value, because that value contains an unescaped `&`.
const valueContinuationPattern = /^(?:[^=]+$|#?\w{1,8};)/
const partEnd = /[^\p{L}\p{N}_-]+/u
const userinfo = /(:\/\/)[^\s/?#"'<>]*@/g

/** Redacts the secrets in a form. If the form is truncated, its incomplete last pair is dropped. */
export function redactForm(text: string, context: RedactionContext): string {
  const raw = text.split('&')
  if (context.isTruncated) raw.pop()
  if (raw.length === 0) throw new Error('no pair is complete')
  const pairs = raw.map((pair) => readPair(pair, context))
  // In a truncated form, the name of a secret may be in the missing part.
  const mayNameSecret =
    context.isTruncated || pairs.some(({ role, value }) => role === 'name' && isSecretName(value))
  let isInSecret = false
  const renderPair = ({ raw, visibleText, hiddenText, isSecret, role }: Pair): string => {
    const isContinuation = isInSecret && valueContinuationPattern.test(raw)
    isInSecret = isSecret || isContinuation
    return isContinuation ? redactionMarker : mayNameSecret && role === 'value' ? hiddenText : visibleText
  }
  return pairs.map(renderPair).join('&')
}

/** Redacts the secrets in the query and fragment of a URL. */
export function redactAddress(url: string, context: RedactionContext): string {
  const at = url.search(/[?;&#]/)
  const path = at < 0 ? url : url.slice(0, at + 1)
  // If a fragment contains data, it has the format of a query.
  const queries = url.slice(path.length).split('#')
  return (
    path.replaceAll(userinfo, `$1${redactionMarker}@`) +
    queries.map((query) => redactForm(query, context)).join('#')
  )
}

function readPair(raw: string, context: RedactionContext): Pair {
  context.spend()
  const equalsIndex = raw.indexOf('=')
  const [rawKey, rawValue] =
    equalsIndex < 0 ? [raw, null] : [raw.slice(0, equalsIndex), raw.slice(equalsIndex + 1)]
  const redactedKey = redactEmbedded(rawKey, context)
  if (rawValue === null)
    return {
      raw,
      visibleText: redactedKey,
      hiddenText: redactionMarker,
      isSecret: false,
      role: 'other',
      value: '',
    }
  const key = decode(rawKey)
  const meaning = getMeaning(key)
  const isSecret = meaning === 'secret'
  const role = meaning === 'name' || meaning === 'value' ? meaning : getMeaning(getLastPart(key))
  const hiddenText = `${redactedKey}=${rawValue === '' ? '' : redactionMarker}`
  const visibleText = isSecret ? hiddenText : `${redactedKey}=${redactEmbedded(rawValue, context)}`
  return { raw, visibleText, hiddenText, isSecret, role, value: decode(rawValue) }
}

const decode = (text: string): string => decodePercentEscapes(text.replaceAll('+', ' '))

/** Returns a key or value unchanged, or re-encodes it if an embedded secret was redacted. */
function redactEmbedded(raw: string, { redactInner }: RedactionContext): string {
  const text = decode(raw)
  const redactedText = redactInner(text)
  return redactedText === text
    ? raw
    : encodeURIComponent(redactedText.toWellFormed()).replaceAll('%5BREDACTED%5D', redactionMarker)
}

const getLastPart = (key: string): string => key.split(partEnd).findLast((part) => part !== '') ?? ''
