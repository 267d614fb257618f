// The token of an invitation has 32 random bytes. With this entropy, a fast hash is safe, the row can be looked up by
// the hash, and guesses need no throttle: each costs one index lookup, and only for people who are signed in.
import { hash } from 'node:crypto'

export const tokenBytes = 32
const tokenPattern = /^inv_[A-Za-z0-9_-]{43}$/

/** Returns the token for these random bytes and the hash to store for it. */
export function buildInvitationToken(random: Buffer): { token: string; tokenHash: Buffer } {
  const token = `inv_${random.toString('base64url')}`
  return { token, tokenHash: hashToken(token) }
}

/** Returns the hash of a token, or null if the string does not have the format of a token. */
export const parseTokenHash = (text: string): Buffer | null =>
  tokenPattern.test(text) ? hashToken(text) : null

const hashToken = (token: string): Buffer => hash('sha256', token, 'buffer')
