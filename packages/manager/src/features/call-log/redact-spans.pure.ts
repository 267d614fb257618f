// Places in a text that are replaced. Everything else stays as it was sent: blanks, order, numbers and repeated keys.
// Pure.

export const redacted = '[REDACTED]'

export type Place = { start: number; end: number }
/** The end of the place may be set after the span was made. */
export type Span = { place: Place; text: string }

/** Returns the text between two positions. */
type Slice = (start: number, end: number) => string

/**
 * The text up to `end` with all spans replaced. Where some overlap, the outer one replaces all; of two for the same place,
 * the later one: a value is looked into before it is known that all of it is a secret.
 */
export function replaceSpans(slice: Slice, end: number, spans: readonly Span[]): string {
  let [shown, at] = ['', 0]
  for (const { place, text } of spans.toReversed().toSorted(byPlace)) {
    if (place.end <= place.start || place.start >= end) continue
    if (place.start >= at) shown += slice(at, place.start) + text
    at = Math.max(at, place.end)
  }
  return shown + slice(at, Math.max(at, end))
}

const byPlace = (a: Span, b: Span): number => a.place.start - b.place.start || b.place.end - a.place.end
