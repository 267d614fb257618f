// Places in a text that are replaced, and texts inside of texts: a reading has its escapes resolved and still knows
// where each character was, so that everything outside of what is replaced stays unchanged. Pure.
import { type Escapes, nextLead, resolved } from './redact-escapes.pure.ts'
import { hasSecretLetters } from './redact-keys.pure.ts'
import type { Spend } from './redact-work.pure.ts'

export const redacted = '[REDACTED]'

export type Span = { start: number; end: number; text: string }

/** A text that is being searched, and what was found so far. */
export type Scan = {
  text: string
  /** Whether the text went on. */
  isCut: boolean
  spans: Span[]
  /** Pays for work; throws when there was too much of it. */
  spend: Spend
  /** Finds what to replace in a text that was inside of this one. */
  inside: (text: string, isCut: boolean) => Span[]
}

/** A place that is hidden. */
export const hide = (start: number, end: number): Span => ({ start, end, text: redacted })

/** Hides everything behind the places that were found, from the one with this index on. */
export function hideRest({ text, spans }: Scan, index: number): void {
  const end = spans.slice(index).reduce((latest, span) => Math.max(latest, span.end), 0)
  spans.push(hide(end, text.length))
}

/** The text with all places replaced; where some overlap, the first one replaces all. */
export function replaceSpans(text: string, spans: readonly Span[]): string {
  let [shown, at] = ['', 0]
  for (const span of spans.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    if (span.end <= span.start) continue
    if (span.start >= at) shown += text.slice(at, span.start) + span.text
    at = Math.max(at, span.end)
  }
  return shown + text.slice(at)
}

// Of a look into a text: of telling what it is, of reading it, and of placing what was found.
const [costOfLook, costOfSuspicion, costOfPiece, costOfReading, costOfPlace] = [40, 6, 80, 3, 90]

const signs = /[=:<{[%&\\\n]|bearer|basic|-----BEGIN/i
// Where names may be written in other ways, or secrets have no name.
const nameless = /[%&\\@\u0080-\uffff]|<[!?]|bearer|basic|-----BEGIN/i

/** Whether a text is worth a search; one that is not holds neither secrets nor escapes. */
export const isSuspicious = (text: string, isCut: boolean): boolean =>
  signs.test(text) && (isCut || nameless.test(text) || hasSecretLetters(text))

// Half of an escape that a cut text ends with.
const longestEscape = '&#x10ffff;'.length

/** Whether what ends here may be cut off: what follows may be half of an escape that belongs to it. */
export const isCutAt = ({ text, isCut }: Pick<Scan, 'text' | 'isCut'>, end: number): boolean =>
  isCut && end + longestEscape >= text.length

/** Searches the text from start to end, and returns it with its escapes resolved. */
export function lookInside(scan: Scan, start: number, end: number, escapes: Escapes): string {
  const raw = scan.text.slice(start, end)
  scan.spend(costOfLook + raw.length * costOfSuspicion)
  if (!isSuspicious(raw, isCutAt(scan, end))) return raw
  const reading = startReading(scan)
  read(reading, raw, start, escapes)
  addFound(scan, reading, escapes)
  return reading.text
}

/** A piece of a reading: where it begins in it, and what it was read from. */
type Piece = {
  from: number
  text: string
  raw: string
  start: number
  escapes: Escapes
  places: Int32Array | null
}
export type Reading = Pick<Scan, 'text' | 'spend'> & { pieces: Piece[] }

export const startReading = ({ spend }: Pick<Scan, 'spend'>): Reading => ({ text: '', spend, pieces: [] })

/** Appends what is written as `raw` at `start`. */
export function read(reading: Reading, raw: string, start: number, escapes: Escapes): void {
  if (raw === '') return
  reading.spend(costOfPiece + raw.length * costOfReading)
  const text = resolved(raw, escapes, reading.spend)
  reading.pieces.push({ from: reading.text.length, text, raw, start, escapes, places: null })
  reading.text += text
}

/** Adds what is found inside of a reading, placed and written as its surroundings write it. */
export function addFound(scan: Scan, reading: Reading, { write }: Escapes): void {
  const final = reading.pieces.at(-1)
  const isCut = final !== undefined && isCutAt(scan, final.start + final.raw.length)
  for (const { start, end, text } of scan.inside(reading.text, isCut)) {
    if (start >= end) continue
    scan.spend(costOfPlace)
    const [first, last] = [pieceAt(reading, start), pieceAt(reading, end - 1)]
    scan.spans.push({
      start: first.start + (placesOf(first, scan)[start - first.from] as number),
      end: last.start + (placesOf(last, scan)[end - last.from] as number),
      text: write(text),
    })
  }
}

function pieceAt({ pieces }: Reading, index: number): Piece {
  let [low, high] = [0, pieces.length - 1]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((pieces[middle] as Piece).from <= index) low = middle
    else high = middle - 1
  }
  return pieces[low] as Piece
}

/** Where each character of the piece begins in what it was read from, and where the last one ends. */
function placesOf(piece: Piece, { spend }: Scan): Int32Array {
  const { text, raw, escapes } = piece
  if (piece.places !== null) return piece.places
  spend(raw.length * costOfReading)
  const places = new Int32Array(text.length + 1)
  let [index, at] = [0, 0]
  for (let lead = nextLead(raw, 0, escapes); at < raw.length; lead = nextLead(raw, at, escapes)) {
    while (at < lead) places[index++] = at++
    if (lead === raw.length) break
    spend(escapes.cost)
    const escape = escapes.resolve(raw, lead)
    for (let unit = 0; unit < (escape?.text.length ?? 1); unit++) places[index++] = at
    at = escape?.end ?? at + 1
  }
  places[index] = raw.length
  piece.places = places
  return places
}
