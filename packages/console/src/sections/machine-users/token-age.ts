// The age of the credential of a machine user. Credentials do not expire, so their age says when to rotate them.
import type { MachineUser } from './machine-user-types.ts'

/** Token ages that the filter offers, in days. */
export const tokenAges = [30, 90, 180, 365] as const
/** Age in days from which the pages ask to rotate the credential. The list of the API has the same default. */
const rotateAfterDays = 90
const dayMs = 86_400_000

type Dated = Pick<MachineUser, 'lastRotatedAt' | 'createdAt' | 'enabled'>
export type TokenAge = { readonly days: number; readonly isOld: boolean }

/** Returns the age at a time in milliseconds. Only the credential of an enabled machine user has to be rotated. */
export function readTokenAge({ lastRotatedAt, createdAt, enabled }: Dated, now: number): TokenAge {
  const age = now - Date.parse(lastRotatedAt ?? createdAt)
  return { days: Math.floor(age / dayMs), isOld: enabled && age > rotateAfterDays * dayMs }
}
