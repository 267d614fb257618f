/** Source of the current time; tests replace it to set the time. */
export type Clock = { now(): Date }
