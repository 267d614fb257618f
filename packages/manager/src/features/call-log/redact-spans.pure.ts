// Redaction replaces only spans of a text. Everything else stays as it was sent: whitespace, order, numbers and
// repeated keys.

export const redacted = '[REDACTED]'

export type Range = { start: number; end: number }
/** The end of the range can be set after the span is created. */
export type Span = { range: Range; text: string }

/** Returns the text between two positions. */
type Slice = (start: number, end: number) => string

/**
 * Returns the text up to `end` with all spans replaced. If spans overlap, the outer one wins. If two spans have the
 * same range, the later one wins: a value is searched before all of it is known to be secret.
 */
export function replaceSpans(slice: Slice, end: number, spans: readonly Span[]): string {
  let [shown, at] = ['', 0]
  for (const { range, text } of spans.toReversed().toSorted(byRange)) {
    if (range.end <= range.start || range.start >= end) continue
    if (range.start >= at) shown += slice(at, range.start) + text
    at = Math.max(at, range.end)
  }
  return shown + slice(at, Math.max(at, end))
}

const byRange = (a: Span, b: Span): number => a.range.start - b.range.start || b.range.end - a.range.end
