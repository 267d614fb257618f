// How much data the load tests have. What they find does not depend on it, but the time to make it does: an ordinary run has
// what shows a difference, and LOAD_SIZE=full what is promised.

// eslint-disable-next-line node/no-process-env -- a choice of whoever runs it, and none of the service's settings
const isFull = process.env['LOAD_SIZE'] === 'full'

/** The ordinary size, or the full one where it was asked for. */
export const loadSize = (ordinary: number, full: number): number => (isFull ? full : ordinary)
