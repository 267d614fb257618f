// Checks that the image of a scenario is well-formed XML whatever its labels contain, and that all elements are inside
// its bounds.
import { SaxesParser } from 'saxes'
import { describe, expect, test } from 'vitest'
import type { Operation } from './recorder.ts'
import { type Timeline, drawTimeline } from './timeline.ts'
import { deliveriesTimeline, emitsTimeline, operationsTimeline, timelineOf } from './timelines.ts'

type Tag = { name: string; attributes: Record<string, string> }

/** Returns all elements and all text. Throws if the XML is not well-formed. */
function parse(svg: string): { tags: Tag[]; text: string } {
  const [tags, texts]: [Tag[], string[]] = [[], []]
  const parser = new SaxesParser({})
  parser.on('error', (error) => {
    throw error
  })
  parser.on('opentag', ({ name, attributes }) => void tags.push({ name, attributes }))
  parser.on('text', (text) => void texts.push(text))
  parser.write(svg).close()
  return { tags, text: texts.join('\n') }
}

const timeline: Timeline = {
  title: 'F01 & <script>"one"</script>',
  series: [
    { name: 'emits', times: [1_000, 1_100, 2_500, 9_900] },
    { name: 'reads > 1', times: [5_000, -1e9, 1e12] },
  ],
  errors: [3_000, 3_100, 3_200],
  faults: [
    { at: 2_000, until: 4_000, name: "it's down" },
    { at: 8_000, until: 8_000, name: 'a moment' },
    { at: -5_000, until: 1e12, name: 'always' },
  ],
  from: 0,
  to: 10_000,
}

/** Returns all elements outside the image, or outside the plot. */
function findOutside({ tags }: ReturnType<typeof parse>): string[] {
  const isWithin = (value: number, from: number, to: number): boolean => value >= from && value <= to
  return tags
    .filter(({ name, attributes }) => {
      const numbersOf = (...keys: string[]): number[] =>
        keys.flatMap((key) => (attributes[key] === undefined ? [] : [Number(attributes[key])]))
      const points = (attributes['points'] ?? '').split(' ').filter(Boolean)
      const ends = [Number(attributes['x'] ?? 0) + Number(attributes['width'] ?? 0)]
      return !(
        numbersOf('x', 'x1', 'x2').every((x) => isWithin(x, 0, 760)) &&
        numbersOf('y', 'y1', 'y2').every((y) => isWithin(y, 0, 280)) &&
        (name !== 'rect' || (numbersOf('width')[0] ?? 0) > 0) &&
        ends.every((end) => isWithin(end, 0, 760)) &&
        points.every((point) => {
          const [x = NaN, y = NaN] = point.split(',').map(Number)
          return isWithin(x, 52, 744) && isWithin(y, 44, 212)
        })
      )
    })
    .map((tag) => JSON.stringify(tag))
}

describe('a timeline', () => {
  test('is well-formed, says in words what it shows, and runs nothing', () => {
    const { tags, text } = parse(drawTimeline(timeline))
    expect(tags.filter(({ name }) => name === 'script')).toEqual([])
    expect(tags.map(({ name }) => name)).toEqual(expect.arrayContaining(['svg', 'title', 'desc']))
    expect(text).toContain('F01 & <script>"one"</script>')
    expect(text).toContain("10 seconds: 4 emits; 3 reads > 1; 3 errors; it's down from second 2 to 4")
    expect(text).toContain('errors (3)')
  })

  test('draws a line for each series, a bar for each second with errors, a span for each fault, all inside', () => {
    const parsed = parse(drawTimeline(timeline))
    expect(findOutside(parsed)).toEqual([])
    const withFill = (fill: string): number =>
      parsed.tags.filter(({ name, attributes }) => name === 'rect' && attributes['fill'] === fill).length
    expect(parsed.tags.filter(({ name }) => name === 'polyline')).toHaveLength(2)
    expect(withFill('#b3261e')).toBe(2)
    expect(withFill('#000')).toBe(3)
  })

  test.each([
    ['nothing', { ...timeline, series: [], errors: [], faults: [], to: 0 }],
    ['an hour', { ...timeline, to: 3_600_000, errors: Array.from({ length: 9_999 }, (_, at) => at * 360) }],
    ['texts that XML cannot hold', { ...timeline, title: '\u0000\u001b[31m\ud800', faults: [] }],
    ['many lines', { ...timeline, series: Array.from({ length: 9 }, () => timeline.series).flat() }],
    ['long texts', { ...timeline, title: 'x'.repeat(5_000) }],
  ] satisfies [string, Timeline][])('holds %s', (_, some) => {
    const svg = drawTimeline(some)
    expect(findOutside(parse(svg))).toEqual([])
    expect(svg.length).toBeLessThan(200_000)
    expect(svg).not.toMatch(/NaN|Infinity|undefined/)
  })

  test('shows a rate where it was', () => {
    const times = Array.from({ length: 100 }, (_, index) => 4_000 + index * 10)
    const { tags } = parse(drawTimeline({ ...timeline, series: [{ name: 'one', times }], errors: [] }))
    const points = tags.find(({ name }) => name === 'polyline')?.attributes['points']?.split(' ') ?? []
    // All 100 times are in the fifth of ten seconds, so this second is the maximum of the plot. The other
    // seconds are empty.
    expect(points.map((point) => Number(point.split(',')[1]))).toEqual(
      points.map((_, index) => (index === 4 ? 44 : 212)),
    )
  })
})

describe('what rows record', () => {
  test('operations become a line for related kinds, and errors; a promised refusal is none', () => {
    const operations: Operation[] = [
      { op: 'emit', key: 'a', start: 0, end: 5_000, status: 200, outcome: 'ok' },
      { op: 'read', key: 'b', start: 0, end: 6_000, status: 200, outcome: 'ok' },
      { op: 'publish', key: '', start: 0, end: 6_500, status: 202, outcome: 'ok' },
      { op: 'emit', key: 'c', start: 0, end: 7_000, status: 503, outcome: 'unknown' },
      { op: 'authenticate', key: 'd', start: 0, end: 6_000, status: 401, outcome: 'fail' },
    ]
    const faults = [{ at: 6_500, until: Infinity, name: 'down' }]
    expect(operationsTimeline(operations, faults)).toEqual({
      series: [
        { name: 'notifications', times: [5_000, 6_500] },
        { name: 'read', times: [6_000] },
      ],
      errors: [7_000],
      faults: [{ at: 6_500, until: 8_000, name: 'down' }],
      from: 4_000,
      to: 8_000,
    })
  })

  test('a try that was not accepted is an error', () => {
    const attempts = [
      { start: 0, end: 1_000, status: 503 },
      { start: 1_500, end: 2_000, status: 202 },
    ]
    const emit = { key: 'k', applicationId: 'a', recipients: [], attempts, accepted: [] }
    expect(emitsTimeline([emit], [])).toMatchObject({
      series: [{ name: 'emits accepted', times: [2_000] }],
      errors: [1_000],
    })
    const sent = { runId: 'r', triggerId: 't', attempt: 1, scheduledAt: 10, stampedAt: 10, executedAt: 10 }
    const deliveries = [
      { ...sent, at: 20, destination: 0, mode: 'ok', status: 200 },
      { ...sent, attempt: 2, at: 30, destination: 0, mode: '500', status: 500 },
    ]
    expect(deliveriesTimeline(deliveries, [])).toMatchObject({
      series: [
        { name: 'due', times: [10] },
        { name: 'delivered', times: [20] },
      ],
      errors: [30],
    })
    expect(timelineOf({ series: [], errors: [], faults: [] })).toMatchObject({ from: -1_000, to: 1_000 })
  })
})
