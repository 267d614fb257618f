// The clock, so that a test can set the time.
export type Clock = { now(): Date }
