// Detects growth over a long run from the slope of the samples and its confidence interval.
//
// Samples a few seconds apart are not independent: a full heap is still full 5 s later, and drops when it is
// collected. A confidence interval that assumes independence is far too narrow and reports leaks where there
// are none. Therefore the line is fitted to block means (1 minute by default), which average over collections
// and are nearly independent. Student's t accounts for the number of blocks. The remaining correlation r of
// adjacent blocks is measured in the residuals and widens the interval. The effective number of blocks is n
// (1 - r) / (1 + r), the usual correction for a first-order autoregressive process. Newey-West would need a
// bandwidth and is too narrow for a few dozen samples.

/** A value at a time, in milliseconds. */
export type Sample = { at: number; value: number }
/** A slope per minute, and the bounds of its 95 % confidence interval. */
export type Slope = { perMinute: number; low: number; high: number; blocks: number; mean: number }
export type Growth = Slope & { grows: boolean }

const minuteMs = 60_000
/** A slope from fewer blocks would be meaningless. */
const minBlocks = 5

/** Returns the slope of the samples, or null if there are too few blocks. */
export function slopeOf(samples: readonly Sample[], blockMs = minuteMs): Slope | null {
  const blocks = meansOf(samples, blockMs)
  const count = blocks.length
  if (count < minBlocks) return null
  const [meanX, meanY] = [meanOf(blocks.map(({ x }) => x)), meanOf(blocks.map(({ y }) => y))]
  const spread = sumOf(blocks.map(({ x }) => (x - meanX) ** 2))
  const perMinute = sumOf(blocks.map(({ x, y }) => (x - meanX) * (y - meanY))) / spread
  const residuals = blocks.map(({ x, y }) => y - meanY - perMinute * (x - meanX))
  const squares = sumOf(residuals.map((residual) => residual ** 2))
  const correlation = squares === 0 ? 0 : Math.max(0, adjacentCorrelation(residuals, squares))
  // With fewer than three blocks, the fit would have no degree of freedom.
  const effective = Math.max(3, (count * (1 - correlation)) / (1 + correlation))
  const deviation = Math.sqrt(squares / (effective - 2) / spread) * Math.sqrt(count / effective)
  const half = studentAt95(effective - 2) * deviation
  return { perMinute, low: perMinute - half, high: perMinute + half, blocks: count, mean: meanY }
}

/**
 * Returns whether the value grows significantly and by more than `maxPerMinute`. Slower growth does not matter. An
 * uncertain slope does not count as growth, so callers should also report the width of the interval.
 */
export function growthOf(
  samples: readonly Sample[],
  maxPerMinute: number,
  blockMs = minuteMs,
): Growth | null {
  const slope = slopeOf(samples, blockMs)
  if (slope === null) return null
  return { ...slope, grows: slope.low > 0 && slope.perMinute > maxPerMinute }
}

/**
 * Returns the minimum of each block. For memory, the minimum is the level after a garbage collection, because
 * garbage is not growth.
 */
export function floorsOf(samples: readonly Sample[], blockMs: number): Sample[] {
  const start = samples.reduce((first, { at }) => Math.min(first, at), Infinity)
  return [...Map.groupBy(samples, ({ at }) => Math.floor((at - start) / blockMs))].map(([index, block]) => ({
    at: start + index * blockMs,
    value: Math.min(...block.map(({ value }) => value)),
  }))
}

type Block = { x: number; y: number }

/**
 * Returns the mean time in minutes and the mean value of each block. Drops the last block if it is less than half full.
 */
function meansOf(samples: readonly Sample[], blockMs: number): Block[] {
  const start = samples.reduce((first, { at }) => Math.min(first, at), Infinity)
  const end = samples.reduce((last, { at }) => Math.max(last, at), -Infinity)
  const groups = Map.groupBy(samples, ({ at }) => Math.floor((at - start) / blockMs))
  return [...groups]
    .filter(([index]) => index === 0 || end - start - index * blockMs >= blockMs / 2)
    .sort(([a], [b]) => a - b)
    .map(([, block]) => ({
      x: meanOf(block.map(({ at }) => at - start)) / minuteMs,
      y: meanOf(block.map(({ value }) => value)),
    }))
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0)
const meanOf = (values: readonly number[]): number => sumOf(values) / values.length

/**
 * Returns the correlation of adjacent residuals. If a line is fitted to few points, its residuals look less
 * correlated, by about 2 / n. This function adds that amount.
 */
const adjacentCorrelation = (residuals: readonly number[], squares: number): number =>
  Math.min(
    0.95,
    sumOf(residuals.slice(1).map((residual, index) => residual * (residuals[index] ?? 0))) / squares +
      2 / residuals.length,
  )

// Two-sided 95 % quantiles of Student's t by degrees of freedom.
const student: readonly [number, number][] = [
  [1, 12.706],
  [2, 4.303],
  [3, 3.182],
  [4, 2.776],
  [5, 2.571],
  [6, 2.447],
  [8, 2.306],
  [10, 2.228],
  [15, 2.131],
  [20, 2.086],
  [30, 2.042],
  [60, 2],
  [120, 1.98],
]

/** Returns the value for the next lower number of degrees of freedom in the table, which is never too small. */
const studentAt95 = (degrees: number): number => student.findLast(([at]) => at <= degrees)?.[1] ?? 12.706
