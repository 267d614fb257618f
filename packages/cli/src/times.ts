import { InvalidArgumentError } from 'commander'

/** A time as the API accepts it: a date stands for its first moment in UTC; the Manager judges any other text. */
export function asTime(text: string): string {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return text
  const time = `${text}T00:00:00Z`
  // Date.parse accepts February 30, and takes it for a day of March.
  if (!new Date(time).toJSON()?.startsWith(text)) throw new InvalidArgumentError('There is no such day.')
  return time
}
