// Data sizes and iteration counts of the load tests. Findings do not depend on them, but the run time does: an ordinary
// run is large enough to show a difference, and LOAD_SIZE=full uses the promised sizes.

// eslint-disable-next-line node/no-process-env -- an option of the test run, not a setting of the service
export const isFull = process.env['LOAD_SIZE'] === 'full'

export const loadSize = (ordinary: number, full: number): number => (isFull ? full : ordinary)
