// Positions of the WAL, and which of them a copy holds.

/** Where the WAL was at a time of this process's clock. */
export type WalSample = { at: number; lsn: string }

function position(lsn: string): bigint {
  const [high = '0', low = '0'] = lsn.split('/')
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`)
}

/** Everything acknowledged before this time is in a copy that ends at this position. */
export const holdsUntil = (samples: readonly WalSample[], end: string): number =>
  Math.max(0, ...samples.filter(({ lsn }) => position(lsn) <= position(end)).map(({ at }) => at))
