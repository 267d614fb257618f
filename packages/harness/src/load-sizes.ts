// How much data and how many rounds the load tests have. What they find does not depend on it, but their time does: an
// ordinary run has what shows a difference, and LOAD_SIZE=full what is promised.

/** Whether the full sizes were asked for. */
// eslint-disable-next-line node/no-process-env -- a choice of whoever runs it, and none of the service's settings
export const isFull = process.env['LOAD_SIZE'] === 'full'

/** The ordinary size, or the full one where it was asked for. */
export const loadSize = (ordinary: number, full: number): number => (isFull ? full : ordinary)
