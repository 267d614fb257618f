import { InvalidArgumentError } from 'commander'

/** Converts a date to midnight UTC. Leaves any other text unchanged, because the Manager validates it. */
export function parseTime(text: string): string {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return text
  const time = `${text}T00:00:00Z`
  // Date.parse accepts February 30 and returns a date in March.
  if (!new Date(time).toJSON()?.startsWith(text)) throw new InvalidArgumentError('The date does not exist.')
  return time
}
