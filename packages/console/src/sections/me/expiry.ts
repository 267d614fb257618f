// The lifetimes that the dialog for a new token offers.
export const lifetimes = ['7', '30', '90', '365', 'day', 'never'] as const
export type Lifetime = (typeof lifetimes)[number]
export const defaultLifetime: Lifetime = '90'

const dayMs = 86_400_000

/** Returns the end of a day, such as `2027-01-31`, in the time zone of the browser; null if the day does not exist. */
function findEndOfDay(day: string): string | null {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day)
  if (parts === null) return null
  const [year, month, date] = parts.slice(1).map(Number) as [number, number, number]
  const end = new Date(year, month - 1, date, 23, 59, 59)
  return end.getMonth() === month - 1 ? end.toISOString() : null
}

/** Returns the expiry time of a token that is created now; null if it does not expire or the day is missing. */
export function findExpiry(lifetime: Lifetime, day: string, now: number): string | null {
  if (lifetime === 'never') return null
  if (lifetime === 'day') return findEndOfDay(day)
  return new Date(now + Number(lifetime) * dayMs).toISOString()
}
