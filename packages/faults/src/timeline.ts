// Draws what happened during a row: operations per second as lines, errors per second as bars, faults as shaded spans. Lines
// differ by their dashes as well as by their colour, so that a print in grey tells them apart.

/** Something that happened at these times, in milliseconds since 1970. */
export type Series = { name: string; times: readonly number[] }
/** What was broken, from when until when. */
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
  { colour: '#1b4f8a', dashes: '' },
  { colour: '#2e7d32', dashes: '7 3' },
  { colour: '#6a1b9a', dashes: '2 3' },
  { colour: '#8d6e00', dashes: '9 3 2 3' },
  { colour: '#00695c', dashes: '4 2' },
]
const errorColour = '#b3261e'
/** More would be a picture of dots, and a file of megabytes. */
const mostColumns = 600

/** A picture of it, as SVG without any script. */
export function drawTimeline(timeline: Timeline): string {
  const { title, series, errors, faults } = timeline
  const from = timeline.from
  const seconds = Math.max(1, (timeline.to - from) / 1_000)
  const stepSeconds = Math.max(1, Math.ceil(seconds / mostColumns))
  const columns = Math.ceil(seconds / stepSeconds)
  const ratesOf = (times: readonly number[]): number[] => countRates(times, { from, columns, stepSeconds })
  const lines = series.map(({ name, times }) => ({ name, rates: ratesOf(times) }))
  const bars = ratesOf(errors)
  const most = niceMost(maxOf([...lines.map(({ rates }) => maxOf(rates)), maxOf(bars)]))
  const toX = (second: number): number =>
    plot.left + (Math.min(Math.max(second, 0), seconds) / seconds) * (plot.right - plot.left)
  const toY = (rate: number): number => plot.bottom - (rate / most) * (plot.bottom - plot.top)
  const scale: Scale = { from, seconds, stepSeconds, most, toX, toY }
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
  most: number
  toX: (second: number) => number
  toY: (rate: number) => number
}

/** How many of the times fall into each column, per second; times outside are not drawn. */
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

const maxOf = (values: readonly number[]): number => values.reduce((most, value) => Math.max(most, value), 0)

/** A round number that is at least as large. */
function niceMost(most: number): number {
  if (most <= 1) return 1
  const power = 10 ** Math.floor(Math.log10(most))
  return ([1, 2, 5, 10].find((factor) => factor * power >= most) ?? 10) * power
}

const round = (value: number): string => String(Math.round(value * 10) / 10)

function drawFault({ at, until, name }: Span, { from, toX }: Scale): string {
  const [x, end] = [toX((at - from) / 1_000), toX((until - from) / 1_000)]
  // One that lasts for a moment has to be seen too.
  const wide = Math.max(2, end - x)
  const isLate = x > (plot.left + plot.right) / 2
  const label = `<text x="${round(isLate ? x + wide : x)}" y="${plot.top - 6}" fill="#444"${isLate ? ' text-anchor="end"' : ''}>${escapeText(abbreviate(name, 60))}</text>`
  return `<rect x="${round(x)}" y="${plot.top}" width="${round(wide)}" height="${plot.bottom - plot.top}" fill="#000" fill-opacity="0.12"/>${label}`
}

/** Both axes, with four marks of the rate and about eight of the time. */
function drawAxes({ seconds, most, toX, toY }: Scale): string[] {
  const everySecond = niceMost(seconds / 8)
  const marks = Array.from(
    { length: Math.floor(seconds / everySecond) + 1 },
    (_, index) => index * everySecond,
  )
  return [
    ...[0, 0.25, 0.5, 0.75, 1].map((share) => {
      const y = round(toY(most * share))
      return `<line x1="${plot.left}" y1="${y}" x2="${plot.right}" y2="${y}" stroke="#ccc"/><text x="${plot.left - 6}" y="${round(toY(most * share) + 4)}" text-anchor="end">${round(most * share)}</text>`
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
  return `<rect x="${round(x)}" y="${round(y)}" width="${round(Math.max(1, end - x - 0.5))}" height="${round(plot.bottom - y)}" fill="${errorColour}" fill-opacity="0.6"/>`
}

function drawLine(rates: readonly number[], index: number, { stepSeconds, toX, toY }: Scale): string {
  const points = rates.map(
    (rate, column) => `${round(toX((column + 0.5) * stepSeconds))},${round(toY(rate))}`,
  )
  return `<polyline points="${points.join(' ')}" fill="none" ${strokeOf(index)}/>`
}

function strokeOf(index: number): string {
  const { colour, dashes } = strokes[index % strokes.length] as (typeof strokes)[number]
  return `stroke="${colour}" stroke-width="1.5"${dashes === '' ? '' : ` stroke-dasharray="${dashes}"`}`
}

/** What each line is, and the bars. */
function drawLegend(names: readonly string[], errors: number): string[] {
  const places = names.length + 1
  const each = (plot.right - plot.left) / places
  const y = height - 14
  const xOf = (index: number): number => plot.left + index * each
  const textOf = (index: number, name: string): string =>
    `<text x="${round(xOf(index) + 24)}" y="${y + 4}">${escapeText(abbreviate(name, Math.max(4, Math.floor((each - 28) / 6))))}</text>`
  return [
    ...names.map(
      (name, index) =>
        `<line x1="${round(xOf(index))}" y1="${y}" x2="${round(xOf(index) + 20)}" y2="${y}" ${strokeOf(index)}/>${textOf(index, name)}`,
    ),
    `<rect x="${round(xOf(names.length))}" y="${y - 5}" width="12" height="10" fill="${errorColour}" fill-opacity="0.6"/>${textOf(names.length, `errors (${errors})`)}`,
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

const abbreviate = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most - 1)}…`

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** As XML holds it: characters that it cannot hold are replaced. */
const escapeText = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/[&<>"']/g, (character) => entities[character] ?? '')
    // eslint-disable-next-line no-control-regex -- these are what XML cannot hold
    .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
