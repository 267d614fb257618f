// WAL positions, and the time up to which a copy is complete.

/** The WAL position at a time on this process's clock. */
export type WalSample = { at: number; lsn: string }

function position(lsn: string): bigint {
  const [high = '0', low = '0'] = lsn.split('/')
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`)
}

/** Returns a time such that a copy that ends at this position contains everything acknowledged before it. */
export const findCompleteUntil = (samples: readonly WalSample[], end: string): number =>
  Math.max(0, ...samples.filter(({ lsn }) => position(lsn) <= position(end)).map(({ at }) => at))
