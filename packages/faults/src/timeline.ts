// Draws the timeline of a scenario: operations per second as lines, errors per second as bars, and faults as shaded
// spans. Lines have different dashes and colors, so that they are distinguishable in grayscale.

/** Times of one kind of event, in milliseconds since 1970. */
export type Series = { name: string; times: readonly number[] }
/** A fault with its start and end. */
export type Span = { at: number; until: number; name: string }
export type Timeline = {
  title: string
  series: readonly Series[]
  errors: readonly number[]
  faults: readonly Span[]
  from: number
  to: number
}

const [width, height] = [760, 280]
const plot = { left: 52, right: 744, top: 44, bottom: 212 }
const strokes = [
  { color: '#1b4f8a', dashes: '' },
  { color: '#2e7d32', dashes: '7 3' },
  { color: '#6a1b9a', dashes: '2 3' },
  { color: '#8d6e00', dashes: '9 3 2 3' },
  { color: '#00695c', dashes: '4 2' },
]
const errorColor = '#b3261e'
/** More columns would be indistinguishable and make the file megabytes large. */
const maxColumns = 600

/** Renders the timeline as SVG without scripts. */
export function drawTimeline(timeline: Timeline): string {
  const { title, series, errors, faults } = timeline
  const from = timeline.from
  const seconds = Math.max(1, (timeline.to - from) / 1_000)
  const stepSeconds = Math.max(1, Math.ceil(seconds / maxColumns))
  const columns = Math.ceil(seconds / stepSeconds)
  const ratesOf = (times: readonly number[]): number[] => countRates(times, { from, columns, stepSeconds })
  const lines = series.map(({ name, times }) => ({ name, rates: ratesOf(times) }))
  const bars = ratesOf(errors)
  const max = roundUp(maxOf([...lines.map(({ rates }) => maxOf(rates)), maxOf(bars)]))
  const toX = (second: number): number =>
    plot.left + (Math.min(Math.max(second, 0), seconds) / seconds) * (plot.right - plot.left)
  const toY = (rate: number): number => plot.bottom - (rate / max) * (plot.bottom - plot.top)
  const scale: Scale = { from, seconds, stepSeconds, max, toX, toY }
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title desc" font-family="sans-serif" font-size="11">`,
    `<title id="title">${escapeText(title)}</title>`,
    `<desc id="desc">${escapeText(describe(timeline))}</desc>`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    `<text x="${plot.left}" y="16" font-size="13">${escapeText(abbreviate(title, 110))}</text>`,
    ...faults.map((fault) => drawFault(fault, scale)),
    ...drawAxes(scale),
    ...bars.flatMap((rate, column) => (rate === 0 ? [] : [drawBar(rate, column, scale)])),
    ...lines.map(({ rates }, index) => drawLine(rates, index, scale)),
    ...drawLegend(
      lines.map(({ name }) => name),
      errors.length,
    ),
    '</svg>',
  ]
  return `${parts.join('\n')}\n`
}

type Scale = {
  from: number
  seconds: number
  stepSeconds: number
  max: number
  toX: (second: number) => number
  toY: (rate: number) => number
}

/** Returns the rate per second in each column. Times outside the range are ignored. */
function countRates(
  times: readonly number[],
  { from, columns, stepSeconds }: { from: number; columns: number; stepSeconds: number },
): number[] {
  const counts = Array.from({ length: columns }, () => 0)
  for (const time of times) {
    const column = Math.floor((time - from) / (stepSeconds * 1_000))
    const count = counts[column]
    if (count !== undefined) counts[column] = count + 1
  }
  return counts.map((count) => count / stepSeconds)
}

const maxOf = (values: readonly number[]): number => values.reduce((max, value) => Math.max(max, value), 0)

/** Returns the next larger round number. */
function roundUp(max: number): number {
  if (max <= 1) return 1
  const power = 10 ** Math.floor(Math.log10(max))
  return ([1, 2, 5, 10].find((factor) => factor * power >= max) ?? 10) * power
}

const round = (value: number): string => String(Math.round(value * 10) / 10)

function drawFault({ at, until, name }: Span, { from, toX }: Scale): string {
  const [x, end] = [toX((at - from) / 1_000), toX((until - from) / 1_000)]
  // Even very short faults must be visible.
  const wide = Math.max(2, end - x)
  const isLate = x > (plot.left + plot.right) / 2
  const label = `<text x="${round(isLate ? x + wide : x)}" y="${plot.top - 6}" fill="#444"${isLate ? ' text-anchor="end"' : ''}>${escapeText(abbreviate(name, 60))}</text>`
  return `<rect x="${round(x)}" y="${plot.top}" width="${round(wide)}" height="${plot.bottom - plot.top}" fill="#000" fill-opacity="0.12"/>${label}`
}

/** Draws both axes, with five rate marks and about eight time marks. */
function drawAxes({ seconds, max, toX, toY }: Scale): string[] {
  const everySecond = roundUp(seconds / 8)
  const marks = Array.from(
    { length: Math.floor(seconds / everySecond) + 1 },
    (_, index) => index * everySecond,
  )
  return [
    ...[0, 0.25, 0.5, 0.75, 1].map((share) => {
      const y = round(toY(max * share))
      return `<line x1="${plot.left}" y1="${y}" x2="${plot.right}" y2="${y}" stroke="#ccc"/><text x="${plot.left - 6}" y="${round(toY(max * share) + 4)}" text-anchor="end">${round(max * share)}</text>`
    }),
    ...marks.map((second) => {
      const x = round(toX(second))
      return `<line x1="${x}" y1="${plot.bottom}" x2="${x}" y2="${plot.bottom + 4}" stroke="#444"/><text x="${x}" y="${plot.bottom + 16}" text-anchor="middle">${second}</text>`
    }),
    `<line x1="${plot.left}" y1="${plot.bottom}" x2="${plot.right}" y2="${plot.bottom}" stroke="#444"/>`,
    `<text x="${(plot.left + plot.right) / 2}" y="${plot.bottom + 30}" text-anchor="middle">seconds</text>`,
    `<text x="14" y="${(plot.top + plot.bottom) / 2}" text-anchor="middle" transform="rotate(-90 14 ${(plot.top + plot.bottom) / 2})">per second</text>`,
  ]
}

function drawBar(rate: number, column: number, { stepSeconds, toX, toY }: Scale): string {
  const [x, end, y] = [toX(column * stepSeconds), toX((column + 1) * stepSeconds), toY(rate)]
  return `<rect x="${round(x)}" y="${round(y)}" width="${round(Math.max(1, end - x - 0.5))}" height="${round(plot.bottom - y)}" fill="${errorColor}" fill-opacity="0.6"/>`
}

function drawLine(rates: readonly number[], index: number, { stepSeconds, toX, toY }: Scale): string {
  const points = rates.map(
    (rate, column) => `${round(toX((column + 0.5) * stepSeconds))},${round(toY(rate))}`,
  )
  return `<polyline points="${points.join(' ')}" fill="none" ${strokeOf(index)}/>`
}

function strokeOf(index: number): string {
  const { color, dashes } = strokes[index % strokes.length] as (typeof strokes)[number]
  return `stroke="${color}" stroke-width="1.5"${dashes === '' ? '' : ` stroke-dasharray="${dashes}"`}`
}

function drawLegend(names: readonly string[], errors: number): string[] {
  const columns = names.length + 1
  const each = (plot.right - plot.left) / columns
  const y = height - 14
  const xOf = (index: number): number => plot.left + index * each
  const textOf = (index: number, name: string): string =>
    `<text x="${round(xOf(index) + 24)}" y="${y + 4}">${escapeText(abbreviate(name, Math.max(4, Math.floor((each - 28) / 6))))}</text>`
  return [
    ...names.map(
      (name, index) =>
        `<line x1="${round(xOf(index))}" y1="${y}" x2="${round(xOf(index) + 20)}" y2="${y}" ${strokeOf(index)}/>${textOf(index, name)}`,
    ),
    `<rect x="${round(xOf(names.length))}" y="${y - 5}" width="12" height="10" fill="${errorColor}" fill-opacity="0.6"/>${textOf(names.length, `errors (${errors})`)}`,
  ]
}

function describe({ series, errors, faults, from, to }: Timeline): string {
  const parts = [
    ...series.map(({ name, times }) => `${times.length} ${name}`),
    `${errors.length} errors`,
    ...faults.map(
      ({ at, until, name }) =>
        `${name} from second ${round((at - from) / 1_000)} to ${round((until - from) / 1_000)}`,
    ),
  ]
  return `${round((to - from) / 1_000)} seconds: ${parts.join('; ')}.`
}

const abbreviate = (text: string, max: number): string =>
  text.length <= max ? text : `${text.slice(0, max - 1)}…`

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Escapes text for XML and replaces characters that XML does not allow. */
const escapeText = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/[&<>"']/g, (character) => entities[character] ?? '')
    // eslint-disable-next-line no-control-regex -- XML does not allow these characters
    .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
