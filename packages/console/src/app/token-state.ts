// Personal access tokens as the account page and the system page show them.
import type { MeTokensResult, SystemTokensResult } from '../generated/documents.ts'

export type AccessToken = MeTokensResult['tokens']['nodes'][number]
export type OwnedToken = SystemTokensResult['tokens']['nodes'][number]
export type TokenState = 'active' | 'expiring' | 'expired' | 'revoked'

const dayMs = 86_400_000
/** A token that expires within this time needs to be replaced. */
const soonMs = 14 * dayMs

type StateFields = Pick<AccessToken, 'revoked' | 'expiresAt'>

/** Returns the state of a token at a time in milliseconds. */
export function findTokenState({ revoked, expiresAt }: StateFields, now: number): TokenState {
  if (revoked) return 'revoked'
  if (expiresAt === null) return 'active'
  const remainingMs = Date.parse(expiresAt) - now
  if (remainingMs <= 0) return 'expired'
  return remainingMs <= soonMs ? 'expiring' : 'active'
}

/** Returns whether requests with the token are accepted. */
export const isUsable = (token: StateFields, now: number): boolean =>
  !['expired', 'revoked'].includes(findTokenState(token, now))

/** Returns the whole days until a time; 0 for a time in the past. */
export const countDays = (time: string, now: number): number =>
  Math.max(0, Math.floor((Date.parse(time) - now) / dayMs))
