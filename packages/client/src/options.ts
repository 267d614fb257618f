// Numbers that callers name.

/** Timers of the platform hold no more: a longer time would be over at once. */
const max = 2 ** 31 - 1

/** The number, when it is within bounds; otherwise throws a TypeError that names the option. */
export function boundedNumber(name: string, value: number, min = 1): number {
  if (Number.isFinite(value) && value >= min && value <= max) return value
  throw new TypeError(`${name} must be a number from ${min} to ${max}`)
}
