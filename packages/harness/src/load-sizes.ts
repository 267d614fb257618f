// Data sizes and iteration counts of the load tests. By default, they are just large enough to show a difference.
// LOAD_SIZE=full uses the sizes that the documentation promises. These runs take longer but find the same problems.

// eslint-disable-next-line node/no-process-env -- an option of the test run, not a setting of the service
export const isFull = process.env['LOAD_SIZE'] === 'full'

export const loadSize = (ordinary: number, full: number): number => (isFull ? full : ordinary)
