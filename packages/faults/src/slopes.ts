// Whether something grows over a long run: the slope of its samples, and how sure that is.
//
// Samples a few seconds apart are not independent: a heap that is full now is full five seconds later, and falls when it is
// collected. A confidence interval that takes them for independent is far too narrow and finds leaks where there are none.
// So the line is fitted to the means of blocks (one minute by default), which average over a collection and are nearly
// independent, with Student's t for their number. What correlation is left between neighbouring blocks is measured in the
// residuals and widens the interval: as if there were fewer blocks, n (1 - r) / (1 + r), the usual correction for a process
// that depends on its last value. Newey-West would need a bandwidth, and is too narrow for some tens of samples.

/** A value at a time, in milliseconds. */
export type Sample = { at: number; value: number }
/** A slope per minute, and the bounds of its 95 % confidence interval. */
export type Slope = { perMinute: number; low: number; high: number; blocks: number; mean: number }
export type Growth = Slope & { grows: boolean }

const minuteMs = 60_000
/** Fewer say nothing about a slope. */
const leastBlocks = 5

/** The slope of the samples; null when there are too few blocks for one. */
export function slopeOf(samples: readonly Sample[], blockMs = minuteMs): Slope | null {
  const blocks = meansOf(samples, blockMs)
  const count = blocks.length
  if (count < leastBlocks) return null
  const [meanX, meanY] = [meanOf(blocks.map(({ x }) => x)), meanOf(blocks.map(({ y }) => y))]
  const spread = sumOf(blocks.map(({ x }) => (x - meanX) ** 2))
  const perMinute = sumOf(blocks.map(({ x, y }) => (x - meanX) * (y - meanY))) / spread
  const residuals = blocks.map(({ x, y }) => y - meanY - perMinute * (x - meanX))
  const squares = sumOf(residuals.map((residual) => residual ** 2))
  const correlation = squares === 0 ? 0 : Math.max(0, neighbourCorrelation(residuals, squares))
  // At least three, so that a line can be wrong at all.
  const effective = Math.max(3, (count * (1 - correlation)) / (1 + correlation))
  const deviation = Math.sqrt(squares / (effective - 2) / spread) * Math.sqrt(count / effective)
  const half = studentAt95(effective - 2) * deviation
  return { perMinute, low: perMinute - half, high: perMinute + half, blocks: count, mean: meanY }
}

/**
 * Whether it grows: surely, and by more than the bound per minute. The bound says how little does not matter; what is not
 * known well enough to tell does not count as growth, so say beside it how wide the interval is.
 */
export function growthOf(
  samples: readonly Sample[],
  mostPerMinute: number,
  blockMs = minuteMs,
): Growth | null {
  const slope = slopeOf(samples, blockMs)
  if (slope === null) return null
  return { ...slope, grows: slope.low > 0 && slope.perMinute > mostPerMinute }
}

/** The least of each block: of memory, what is left after a collection. What is not collected yet is no growth. */
export function floorsOf(samples: readonly Sample[], blockMs: number): Sample[] {
  const start = samples.reduce((first, { at }) => Math.min(first, at), Infinity)
  return [...Map.groupBy(samples, ({ at }) => Math.floor((at - start) / blockMs))].map(([index, some]) => ({
    at: start + index * blockMs,
    value: Math.min(...some.map(({ value }) => value)),
  }))
}

type Block = { x: number; y: number }

/** The mean time, in minutes, and the mean value of each block; the last is left out when it is less than half full. */
function meansOf(samples: readonly Sample[], blockMs: number): Block[] {
  const start = samples.reduce((first, { at }) => Math.min(first, at), Infinity)
  const end = samples.reduce((last, { at }) => Math.max(last, at), -Infinity)
  const groups = Map.groupBy(samples, ({ at }) => Math.floor((at - start) / blockMs))
  return [...groups]
    .filter(([index]) => index === 0 || end - start - index * blockMs >= blockMs / 2)
    .sort(([a], [b]) => a - b)
    .map(([, some]) => ({
      x: meanOf(some.map(({ at }) => at - start)) / minuteMs,
      y: meanOf(some.map(({ value }) => value)),
    }))
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0)
const meanOf = (values: readonly number[]): number => sumOf(values) / values.length

/**
 * How much a residual says about the next. A line that was fitted to few points makes its residuals look less correlated than
 * they are, by about 2 / n, which is added.
 */
const neighbourCorrelation = (residuals: readonly number[], squares: number): number =>
  Math.min(
    0.95,
    sumOf(residuals.slice(1).map((residual, index) => residual * (residuals[index] ?? 0))) / squares +
      2 / residuals.length,
  )

// Two-sided 95 % of Student's t, for these degrees of freedom.
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

/** The value for the next lower number of degrees, which is never too small. */
const studentAt95 = (degrees: number): number => student.findLast(([at]) => at <= degrees)?.[1] ?? 12.706
