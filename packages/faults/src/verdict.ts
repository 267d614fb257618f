// The findings of a scenario: figures for humans, and the figures that violate a bound.

/**
 * Recovery time of the service, and that of PostgreSQL or Redis without the service, or null if the latter was not
 * measured.
 */
type Recovery = { figure: string; ms: number; bareMs: number | null }
export type Verdict = {
  figures: string[]
  /**
   * Broken figures. `isBound` is true if a time or percentage is too large, or too few operations were done.
   */
  broken: { figure: string; details: string; isBound: boolean }[]
  /** Figures that count violations. */
  counts: string[]
  recoveries: Recovery[]
}

/** Figures that depend on the speed of the machine. Any other figure that is too large indicates a mistake. */
const dependsOnMachineSpeed = /(?:^|_)(?:ms|s|ratio|pct|p\d+)$/

type Recovered = { ms: number; max: number; bareMs?: number | null }

/** Collects the figures of a scenario in print order. */
export function createVerdict() {
  const verdict: Verdict = { figures: [], broken: [], counts: [], recoveries: [] }
  const judge = (figure: string, shown: string, broken: string | null = null, isBound = true): void => {
    verdict.figures.push(`${figure}=${shown}`)
    if (broken !== null) verdict.broken.push({ figure, details: broken, isBound })
  }
  const atMost = (figure: string, value: number, max: number): void =>
    judge(
      figure,
      `${rounded(value)}(<=${rounded(max)})`,
      value <= max ? null : `${value} is more than ${max}`,
      dependsOnMachineSpeed.test(figure),
    )
  return {
    verdict,
    /** Marks the figure as broken if `found` is not empty. */
    none: (figure: string, found: readonly string[]): void => {
      verdict.counts.push(`${figure}=${found.length}`)
      judge(figure, String(found.length), found.length === 0 ? null : found.slice(0, 5).join('; '), false)
    },
    atMost,
    /** Adds a recovery time in milliseconds, with the recovery time without the service if it is known. */
    recovery: (figure: string, { ms, max, bareMs = null }: Recovered): void => {
      verdict.recoveries.push({ figure, ms, bareMs })
      atMost(figure, ms, max)
      if (bareMs !== null) judge(`bare_${figure}`, rounded(bareMs))
    },
    atLeast: (figure: string, value: number, min: number): void =>
      judge(
        figure,
        `${rounded(value)}(>=${rounded(min)})`,
        value >= min ? null : `${value} is less than ${min}`,
      ),
    /** Adds a figure that is printed but has no bound. */
    show: (figure: string, value: number | string): void =>
      judge(figure, typeof value === 'number' ? rounded(value) : value),
  }
}

const rounded = (value: number): string => String(Math.round(value * 100) / 100)

/** Returns the value that this fraction of the sorted values does not exceed, or 0 if there are none. */
export const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0

/** Returns the maximum number of events within any second. */
export function peakPerSecond(times: readonly number[]): number {
  const sorted = [...times].sort((a, b) => a - b)
  let [from, peak] = [0, 0]
  for (const [to, time] of sorted.entries()) {
    while ((sorted[from] as number) <= time - 1_000) from++
    peak = Math.max(peak, to - from + 1)
  }
  return peak
}

/** Formats the median, the 99th percentile and the maximum. */
export const lagsAt = (sorted: readonly number[]): string =>
  [quantile(sorted, 0.5), quantile(sorted, 0.99), sorted.at(-1) ?? 0].map((ms) => Math.round(ms)).join('/')
