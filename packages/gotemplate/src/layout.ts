// Formats times with Go's layouts. A layout shows how to write the reference time, Mon Jan 2 15:04:05 2006
// -0700.

/** The parts of a time in UTC. */
export interface TimeParts {
  readonly year: number
  readonly month: number
  readonly day: number
  readonly weekday: number
  readonly yearDay: number
  readonly hour: number
  readonly minute: number
  readonly second: number
  readonly nanosecond: number
}

export const monthNames: readonly string[] = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
]
export const dayNames: readonly string[] = [
  'Sunday',
  'Monday',
  'Tuesday',
  'Wednesday',
  'Thursday',
  'Friday',
  'Saturday',
]

const padTwo = (value: number): string => String(value).padStart(2, '0')
const toHour12 = (hour: number): number => hour % 12 || 12
const getMonthName = ({ month }: TimeParts): string => monthNames[month - 1] ?? ''
const getDayName = ({ weekday }: TimeParts): string => dayNames[weekday] ?? ''

type WriteElement = (time: TimeParts) => string

/** The elements of a layout. An element precedes every shorter element that is its prefix. */
const elements: readonly (readonly [piece: string, write: WriteElement])[] = [
  ['January', getMonthName],
  ['Jan', (time) => getMonthName(time).slice(0, 3)],
  ['Monday', getDayName],
  ['Mon', (time) => getDayName(time).slice(0, 3)],
  ['MST', () => 'UTC'],
  ['002', ({ yearDay }) => String(yearDay).padStart(3, '0')],
  ['01', (time) => padTwo(time.month)],
  ['02', (time) => padTwo(time.day)],
  ['03', ({ hour }) => padTwo(toHour12(hour))],
  ['04', ({ minute }) => padTwo(minute)],
  ['05', ({ second }) => padTwo(second)],
  ['06', ({ year }) => padTwo(Math.max(year, 0) % 100)],
  ['15', ({ hour }) => padTwo(hour)],
  ['1', (time) => String(time.month)],
  ['2006', ({ year }) => formatYear(year)],
  ['2', (time) => String(time.day)],
  // The underscore pads only a day. Before a year, the underscore is a literal character.
  ['_2006', ({ year }) => `_${formatYear(year)}`],
  ['_2', (time) => String(time.day).padStart(2)],
  ['__2', ({ yearDay }) => String(yearDay).padStart(3)],
  ['3', ({ hour }) => String(toHour12(hour))],
  ['4', ({ minute }) => String(minute)],
  ['5', ({ second }) => String(second)],
  ['PM', ({ hour }) => (hour >= 12 ? 'PM' : 'AM')],
  ['pm', ({ hour }) => (hour >= 12 ? 'pm' : 'am')],
  ['-070000', () => '+000000'],
  ['-07:00:00', () => '+00:00:00'],
  ['-0700', () => '+0000'],
  ['-07:00', () => '+00:00'],
  ['-07', () => '+00'],
  ['Z070000', () => 'Z'],
  ['Z07:00:00', () => 'Z'],
  ['Z0700', () => 'Z'],
  ['Z07:00', () => 'Z'],
  ['Z07', () => 'Z'],
]

function formatYear(year: number): string {
  return year < 0 ? `-${String(-year).padStart(4, '0')}` : String(year).padStart(4, '0')
}

export function formatTime(time: TimeParts, layout: string): string {
  let text = ''
  for (let at = 0; at < layout.length;) {
    const fractionLength = measureFraction(layout, at)
    if (fractionLength > 0) {
      text += writeFraction(time.nanosecond, layout.slice(at, at + fractionLength))
      at += fractionLength
      continue
    }
    const element = elements.find(([piece]) => matchesAt(piece, layout, at))
    text += element === undefined ? (layout[at] ?? '') : element[1](time)
    at += element === undefined ? 1 : element[0].length
  }
  return text
}

function matchesAt(piece: string, layout: string, at: number): boolean {
  if (!layout.startsWith(piece, at)) return false
  // Jan and Mon match only if no lower-case letter follows: Month, for example, does not contain a weekday.
  const next = layout.charCodeAt(at + piece.length)
  return (piece !== 'Jan' && piece !== 'Mon') || !(next >= 97 && next <= 122)
}

/**
 * Returns the length of a fraction of a second, such as .000 or ,999, at this position, or 0 if there is
 * none.
 */
function measureFraction(layout: string, at: number): number {
  const [mark, digit] = [layout[at], layout[at + 1]]
  if ((mark !== '.' && mark !== ',') || (digit !== '0' && digit !== '9')) return 0
  let end = at + 1
  while (layout[end] === digit) end++
  const next = layout.charCodeAt(end)
  return next >= 48 && next <= 57 ? 0 : end - at
}

function writeFraction(nanosecond: number, layout: string): string {
  const digits = String(nanosecond)
    .padStart(9, '0')
    .slice(0, layout.length - 1)
  const mark = layout.slice(0, 1)
  if (layout.endsWith('0')) return mark + digits
  const trimmedDigits = digits.replace(/(?<!0)0+$/, '')
  return trimmedDigits === '' ? '' : mark + trimmedDigits
}
