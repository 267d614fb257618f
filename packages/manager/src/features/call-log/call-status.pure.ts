// Parses the status filter of logged calls.

/** A range of statuses from `min` to `max`, or `failed` for calls that failed without a response to the caller. */
export type CallStatus = 'failed' | { min: number; max: number }

/** Parses `failed`, a status such as `404`, or a class such as `5xx`; returns null for any other text. */
export function parseCallStatus(text: string): CallStatus | null {
  if (text === 'failed') return 'failed'
  const [, hundreds, rest] = /^([1-5])(xx|\d\d)$/.exec(text) ?? []
  if (hundreds === undefined || rest === undefined) return null
  const base = Number(hundreds) * 100
  return rest === 'xx'
    ? { min: base, max: base + 99 }
    : { min: base + Number(rest), max: base + Number(rest) }
}
