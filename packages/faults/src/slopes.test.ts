// Tests that planted leaks are found, and that fluctuating values are not reported as leaks.
import { describe, expect, test } from 'vitest'
import { createRandom } from './random.ts'
import { type Sample, floorsOf, growthOf, slopeOf } from './slopes.ts'

const minutes = 60
const everyMs = 5_000
/** One hour with a sample every 5 s. */
const samplesOf = (valueAt: (minute: number, index: number) => number): Sample[] =>
  Array.from({ length: (minutes * 60_000) / everyMs }, (_, index) => ({
    at: 1_000_000 + index * everyMs,
    value: valueAt((index * everyMs) / 60_000, index),
  }))

/** Returns a generator of approximately normal noise with a standard deviation of 1. */
function createNoise(seed: number): () => number {
  const random = createRandom(seed)
  return () => Array.from({ length: 12 }, () => random()).reduce((sum, value) => sum + value, -6)
}
/** Returns a generator whose values each depend on the previous value, like memory usage. */
function createWander(seed: number, keeps: number): () => number {
  const noise = createNoise(seed)
  let value = 0
  return () => (value = keeps * value + Math.sqrt(1 - keeps ** 2) * noise())
}
/**
 * Returns a generator that rises and drops like a garbage-collected heap, always to about the same height but at
 * varying times.
 */
function createSawtooth(seed: number, megabytes: number): () => number {
  const random = createRandom(seed)
  let [height, top] = [0, megabytes]
  return () => {
    height += megabytes / 9
    if (height > top) [height, top] = [0, megabytes * (0.7 + 0.6 * random())]
    return height
  }
}
const seeds = Array.from({ length: 200 }, (_, index) => index + 1)
/** Returns the number of seeds for which growth is reported. */
const alarmsOf = (make: (seed: number) => Sample[]): number =>
  seeds.filter((seed) => growthOf(make(seed), 0)?.grows === true).length

describe('growth', () => {
  test('is exact for a line', () => {
    expect(slopeOf(samplesOf((minute) => 100 + 0.25 * minute))).toMatchObject({
      perMinute: expect.closeTo(0.25, 6) as number,
      low: expect.closeTo(0.25, 6) as number,
      high: expect.closeTo(0.25, 6) as number,
      blocks: minutes,
    })
  })

  test.each([
    ['memory, 0.2 MB per minute under a noise of 5', 0.2, () => createNoise(3), 5],
    ['memory, 0.3 MB per minute under collections of 30', 0.3, () => createSawtooth(4, 1), 30],
    ['descriptors, one in two minutes', 0.5, () => createNoise(5), 1],
    ['memory that wanders, 0.5 MB per minute', 0.5, () => createWander(6, 0.9), 5],
  ])('finds a leak: %s', (_, perMinute, create, height) => {
    const noise = create()
    const growth = growthOf(
      samplesOf((minute) => 120 + perMinute * minute + height * noise()),
      perMinute / 2,
    )
    expect(growth).toMatchObject({ grows: true })
    expect(growth?.low).toBeLessThan(perMinute)
    expect(growth?.high).toBeGreaterThan(perMinute)
  })

  test('a slope below its bound, or downwards, does not count', () => {
    expect(
      growthOf(
        samplesOf((minute) => 100 + 0.01 * minute),
        0.05,
      ),
    ).toMatchObject({ grows: false })
    expect(
      growthOf(
        samplesOf((minute) => 100 - minute),
        0.05,
      ),
    ).toMatchObject({ grows: false })
    expect(
      growthOf(
        samplesOf(() => 7),
        0,
      ),
    ).toMatchObject({ grows: false, perMinute: 0, low: 0, high: 0 })
  })

  test('too few minutes say nothing', () => {
    expect(growthOf(samplesOf((minute) => minute).slice(0, 40), 0)).toBeNull()
    expect(growthOf([], 0)).toBeNull()
  })
})

describe('without growth, even with no bound, at most one in twenty is taken for it', () => {
  // One tail of a 95 % interval is 2.5 %, which corresponds to about 5 of 200 seeds.
  test.each([
    ['noise', (seed: number) => createNoise(seed)],
    ['collections', (seed: number) => createSawtooth(seed, 30)],
    ['samples that depend on the one before', (seed: number) => createWander(seed, 0.9)],
    ['slow waves, over minutes', (seed: number) => createWander(seed, 0.99)],
  ])('%s', (_, create) => {
    const alarms = alarmsOf((seed) => {
      const value = create(seed)
      return samplesOf(() => 100 + value())
    })
    expect(alarms).toBeLessThanOrEqual(10)
  })

  test('which a fit that takes samples for independent does not achieve', () => {
    // With one sample per minute, the result equals a fit without block means. The correlation is still corrected.
    const alarms = alarmsOf((seed) => {
      const value = createWander(seed, 0.99)
      return samplesOf(() => 100 + value()).filter((_, index) => index % 12 === 0)
    })
    const naive = seeds.filter((seed) => {
      const value = createWander(seed, 0.99)
      return naiveLow(samplesOf(() => 100 + value())) > 0
    }).length
    expect(naive).toBeGreaterThan(40)
    expect(alarms).toBeLessThan(naive)
  })
})

/** The lower bound of a plain least-squares fit, for comparison. */
function naiveLow(samples: readonly Sample[]): number {
  const n = samples.length
  const meanX = samples.reduce((sum, { at }) => sum + at, 0) / n
  const meanY = samples.reduce((sum, { value }) => sum + value, 0) / n
  const spread = samples.reduce((sum, { at }) => sum + (at - meanX) ** 2, 0)
  const slope = samples.reduce((sum, { at, value }) => sum + (at - meanX) * (value - meanY), 0) / spread
  const squares = samples.reduce((sum, { at, value }) => sum + (value - meanY - slope * (at - meanX)) ** 2, 0)
  return slope - 1.96 * Math.sqrt(squares / (n - 2) / spread)
}

test('the floor of a block is its least value: what is collected later is not in it', () => {
  const sawtooth = Array.from({ length: 120 }, (_, index) => ({
    at: index * 5_000,
    value: 90 + (index % 60),
  }))
  expect(floorsOf(sawtooth, 300_000)).toEqual([
    { at: 0, value: 90 },
    { at: 300_000, value: 90 },
  ])
})
