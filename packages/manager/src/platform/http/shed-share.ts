// How much of what arrives is refused while the event loop is late. Whoever is let in takes some turns of the loop, so a loop
// that is a second late answers after many: more and more is refused until it is late by less, and less and less afterwards.

// With this, a request that takes six turns is answered within a second.
const targetMs = 150
// A replica that starts, or a machine that is busy for a moment, is no reason to refuse anybody.
const patience = 6
const gain = 0.08
const mostStep = 0.25
const ease = 0.9
const least = 0.02
const most = 0.98

export type ShedShare = {
  /** The share of requests to refuse, from 0 to 1. */
  share: () => number
  /** To be called at an even pace with how late the loop was since the last time, on average. */
  note: (delayMs: number) => void
}

/** Begins with nothing refused. */
export function createShedShare(): ShedShare {
  let [share, late] = [0, 0]
  return {
    share: () => share,
    note: (delayMs) => {
      if (delayMs <= targetMs) {
        late = 0
        share = share * ease < least ? 0 : share * ease
      } else if (++late > patience || share > 0)
        share = Math.min(most, share + Math.min(mostStep, gain * (delayMs / targetMs - 1)))
    },
  }
}
