// Data sizes and iteration counts of the load tests. They affect the run time, but not the findings. By
// default, sizes are just large enough to show a difference. LOAD_SIZE=full uses the promised sizes.

// eslint-disable-next-line node/no-process-env -- an option of the test run, not a setting of the service
export const isFull = process.env['LOAD_SIZE'] === 'full'

export const loadSize = (ordinary: number, full: number): number => (isFull ? full : ordinary)
