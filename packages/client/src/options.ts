// Validates numeric options.

/** The maximum delay of platform timers. A longer delay would make the timer fire immediately. */
const max = 2 ** 31 - 1

/** Returns the number if it is within bounds. Otherwise throws a TypeError that names the option. */
export function checkNumber(name: string, value: number, min = 1): number {
  if (Number.isFinite(value) && value >= min && value <= max) return value
  throw new TypeError(`${name} must be a number from ${min} to ${max}`)
}
