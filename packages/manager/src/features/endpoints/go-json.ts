// Values as Go's encoding/json writes them: keys in the order of their bytes, and escaped what means something in HTML.

/** Counts the work of one value. */
type Step = () => void

/** The value as JSON; values with a toJSON of their own, such as times, say themselves what they are. */
export function goJson(value: unknown, step: Step): string {
  step()
  if (typeof value === 'string') return jsonString(value)
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value)
  // JavaScript and Go write the same numbers, but for the sign of zero.
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(value)
  if (typeof value !== 'object' || value === null) return 'null'
  if (Array.isArray(value)) return `[${value.map((element) => goJson(element, step)).join(',')}]`
  if (!(value instanceof Map) && 'toJSON' in value && typeof value.toJSON === 'function')
    return JSON.stringify(value)
  const entries: [string, unknown][] = value instanceof Map ? [...value] : Object.entries(value)
  const fields = entries.toSorted(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  return `{${fields.map(([key, field]) => `${jsonString(key)}:${goJson(field, step)}`).join(',')}}`
}

const short: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
}
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const special = /["\\\u0000-\u001f<>&\u2028\u2029]/g

/** A text as a JSON string, with its quotes. */
export function jsonString(text: string): string {
  const escaped = text
    .toWellFormed()
    .replace(special, (c) => short[c] ?? `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return `"${escaped}"`
}
