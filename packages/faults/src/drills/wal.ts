// Maps WAL positions to times, to determine up to which time a copy is complete.

/** A WAL position and the time at which it was read, on the clock of this process. */
export type WalSample = { at: number; lsn: string }

function position(lsn: string): bigint {
  const [high = '0', low = '0'] = lsn.split('/')
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`)
}

/**
 * Returns the latest known time for a WAL position. A copy that ends at this position contains everything that was
 * acknowledged before that time.
 */
export const findCompleteUntil = (samples: readonly WalSample[], end: string): number =>
  Math.max(0, ...samples.filter(({ lsn }) => position(lsn) <= position(end)).map(({ at }) => at))
