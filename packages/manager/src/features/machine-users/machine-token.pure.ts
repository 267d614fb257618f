// A machine token has 32 random bytes, written as 43 base64url characters. With this entropy, a fast hash is safe, and
// the row can be looked up by the hash.
import { hash } from 'node:crypto'

export const tokenBytes = 32
const tokenPattern = /^[A-Za-z0-9_-]{43}$/
const prefixLength = 8

/** Returns the token for these random bytes and the values to store for it. */
export function buildMachineToken(random: Buffer): { token: string; tokenPrefix: string; tokenHash: Buffer } {
  const token = random.toString('base64url')
  return { token, tokenPrefix: token.slice(0, prefixLength), tokenHash: hashToken(token) }
}

/** Returns the hash of a machine token, or null if the string does not have the format of a token. */
export const parseTokenHash = (text: string): Buffer | null =>
  tokenPattern.test(text) ? hashToken(text) : null

const hashToken = (token: string): Buffer => hash('sha256', token, 'buffer')
