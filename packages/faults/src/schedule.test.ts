// Checks that only the seed determines the schedule of a scenario, and that a schedule from any other source is
// rejected before the first fault.
import { describe, expect, test } from 'vitest'
import { type RowOptions, ownNumbers } from './base.ts'
import { createRandom, pick, seedOf, shuffle } from './random.ts'
import { allRows, chooseRows, groups, shortRows } from './rows.ts'
import { type MakeSchedule, areSame, bySize, digestOf, planSchedule, stepOf, targetOf } from './schedule.ts'

const optionsOf = (seed: number, size: RowOptions['size'] = 'full'): RowOptions => ({
  seed,
  size,
  ...ownNumbers,
  keep: false,
})
const kill: MakeSchedule = (random) => [{ what: 'kill', target: pick(random, 3), atMs: 1_000 * random() }]

describe('a schedule', () => {
  test('is the same for the same row and seed, and another for another', () => {
    const first = planSchedule('F01', optionsOf(7), kill)
    expect(planSchedule('F01', optionsOf(7), kill)).toEqual(first)
    expect(planSchedule('F01', optionsOf(8), kill)).not.toEqual(first)
    expect(planSchedule('F02', optionsOf(7), kill)).not.toEqual(first)
  })

  test('that does not follow from the seed is found', () => {
    const drawn: MakeSchedule = () => [{ what: 'kill', target: 0, atMs: Math.random() }]
    expect(() => planSchedule('F01', optionsOf(7), drawn)).toThrow(
      'the schedule of F01 is not determined by the seed',
    )
    const [one, other] = [drawn(Math.random, optionsOf(7)), drawn(Math.random, optionsOf(7))]
    expect(areSame([one, one, one])).toBe(true)
    expect(areSame([one, one, other])).toBe(false)
  })

  test('has a digest that tells it from others', () => {
    const schedule = planSchedule('F01', optionsOf(7), kill)
    expect(digestOf(schedule)).toMatch(/^[0-9a-f]{8}$/)
    expect(digestOf(structuredClone(schedule))).toBe(digestOf(schedule))
    expect(digestOf([])).toBe('none')
    expect(digestOf([...schedule, ...schedule])).not.toBe(digestOf(schedule))
  })

  test('names its steps and their targets', () => {
    const step = stepOf([{ what: 'kill', target: 1, atMs: 0 }], 'kill')
    expect(targetOf(['a', 'b'], step)).toBe('b')
    expect(() => targetOf(['a'], step)).toThrow('step kill has no target 1')
    expect(() => stepOf([], 'kill')).toThrow('the schedule has no step kill')
  })
})

describe('every row', () => {
  test.each(allRows.map((row) => [row.id, row] as const))('%s plans the same for the same seed', (_, row) => {
    for (const size of ['full', 'short'] as const)
      for (const seed of [1, 7, 999_999]) {
        const schedule = row.schedule(optionsOf(seed, size))
        expect(row.schedule(optionsOf(seed, size))).toEqual(schedule)
        for (const { atMs } of schedule) expect(atMs).toBeGreaterThanOrEqual(0)
      }
  })

  test('is in one group, under a name of its own', () => {
    const ids = Object.values(groups).flatMap((rows) => rows.map(({ id }) => id))
    expect(new Set(ids).size).toBe(ids.length)
    expect(allRows.map(({ id }) => id)).toEqual(ids.toSorted())
    for (const row of shortRows) expect(allRows).toContain(row)
  })
})

describe('names', () => {
  test('of rows and groups stand for rows, each once; none stands for all but F30', () => {
    const idsOf = (names: string[]): string[] => chooseRows(names).rows.map(({ id }) => id)
    expect(idsOf(['f03', 'F01', 'F03'])).toEqual(['F03', 'F01'])
    expect(idsOf(['triggers', 'F01'])).toEqual(groups['triggers']?.map(({ id }) => id))
    expect(idsOf([])).toEqual(allRows.map(({ id }) => id).filter((id) => id !== 'F30'))
    expect(() => idsOf(['F99'])).toThrow('Unknown scenario or group F99')
  })

  test('short makes rows short only by itself', () => {
    expect(chooseRows(['short'])).toEqual({ rows: shortRows, isShort: true })
    expect(chooseRows(['short', 'F01']).isShort).toBe(false)
    expect([bySize({ size: 'full' }, 2, 1), bySize({ size: 'short' }, 2, 1)]).toEqual([2, 1])
  })
})

test('numbers follow from the seed, and an order holds every item once', () => {
  const [one, same] = [createRandom(5), createRandom(5)]
  const drawn = Array.from({ length: 100 }, () => one())
  expect(drawn).toEqual(Array.from({ length: 100 }, () => same()))
  expect(drawn.every((value) => value >= 0 && value < 1)).toBe(true)
  expect(shuffle(createRandom(5), [1, 2, 3]).toSorted((a, b) => a - b)).toEqual([1, 2, 3])
  expect(seedOf('F01 7')).not.toBe(seedOf('F01 8'))
})
