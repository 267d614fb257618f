// What a row found: figures for people, and which of them are not as promised.

/** How long it took until the service worked again, and how long the engine takes without it; null when not measured. */
type Recovery = { figure: string; ms: number; bareMs: number | null }
export type Verdict = {
  figures: string[]
  /** Those that are not as promised; `isBound`: a time or a share is too large, or too little was done. */
  broken: { figure: string; details: string; isBound: boolean }[]
  /** Those of the figures that count what must not be. */
  counts: string[]
  recoveries: Recovery[]
}

/** What depends on how fast the machine is; other numbers that are too large are mistakes. */
const isOfTime = /(?:^|_)(?:ms|s|ratio|pct|p\d+)$/

type Recovered = { ms: number; most: number; bareMs?: number | null }

/** Collects the figures of a row, in the order in which they are printed. */
export function createVerdict() {
  const verdict: Verdict = { figures: [], broken: [], counts: [], recoveries: [] }
  const judge = (figure: string, shown: string, broken: string | null = null, isBound = true): void => {
    verdict.figures.push(`${figure}=${shown}`)
    if (broken !== null) verdict.broken.push({ figure, details: broken, isBound })
  }
  const atMost = (figure: string, value: number, most: number): void =>
    judge(
      figure,
      `${rounded(value)}(<=${rounded(most)})`,
      value <= most ? null : `${value} is more than ${most}`,
      isOfTime.test(figure),
    )
  return {
    verdict,
    /** Nothing of this may be found. */
    none: (figure: string, found: readonly string[]): void => {
      verdict.counts.push(`${figure}=${found.length}`)
      judge(figure, String(found.length), found.length === 0 ? null : found.slice(0, 5).join('; '), false)
    },
    atMost,
    /** A time until something works again, in milliseconds, with that of the bare engine where it is known. */
    recovery: (figure: string, { ms, most, bareMs = null }: Recovered): void => {
      verdict.recoveries.push({ figure, ms, bareMs })
      atMost(figure, ms, most)
      if (bareMs !== null) judge(`bare_${figure}`, rounded(bareMs))
    },
    atLeast: (figure: string, value: number, least: number): void =>
      judge(
        figure,
        `${rounded(value)}(>=${rounded(least)})`,
        value >= least ? null : `${value} is less than ${least}`,
      ),
    /** Printed, not judged. */
    show: (figure: string, value: number | string): void =>
      judge(figure, typeof value === 'number' ? rounded(value) : value),
  }
}

const rounded = (value: number): string => String(Math.round(value * 100) / 100)

/** The value that this share of the sorted values does not exceed; 0 of none. */
export const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0

/** The most of these times that fall into one second. */
export function peakPerSecond(times: readonly number[]): number {
  const sorted = [...times].sort((a, b) => a - b)
  let [from, peak] = [0, 0]
  for (const [to, time] of sorted.entries()) {
    while ((sorted[from] as number) <= time - 1_000) from++
    peak = Math.max(peak, to - from + 1)
  }
  return peak
}

/** How late half, nearly all, and the latest of these came. */
export const lagsAt = (sorted: readonly number[]): string =>
  [quantile(sorted, 0.5), quantile(sorted, 0.99), sorted.at(-1) ?? 0].map((ms) => Math.round(ms)).join('/')
