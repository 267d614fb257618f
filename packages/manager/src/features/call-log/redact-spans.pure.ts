// Redaction replaces only spans of the text. Everything else stays unchanged: whitespace, order, numbers and
// repeated keys.

export const redactionMarker = '[REDACTED]'

export type Range = { start: number; end: number }
/** The end of the range can be set after the span is created. */
export type Span = { range: Range; text: string }

/** Returns the text between two positions. */
type Slice = (start: number, end: number) => string

/**
 * Returns the text up to `end` with all spans replaced. If spans overlap, the outer span wins. If two spans have the
 * same range, the later span wins, because the parser searches a value for embedded secrets before it knows that the
 * whole value is secret.
 */
export function replaceSpans(slice: Slice, end: number, spans: readonly Span[]): string {
  let [result, at] = ['', 0]
  for (const { range, text } of spans.toReversed().toSorted(compareSpans)) {
    if (range.end <= range.start || range.start >= end) continue
    if (range.start >= at) result += slice(at, range.start) + text
    at = Math.max(at, range.end)
  }
  return result + slice(at, Math.max(at, end))
}

const compareSpans = (a: Span, b: Span): number => a.range.start - b.range.start || b.range.end - a.range.end
