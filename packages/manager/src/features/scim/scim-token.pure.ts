// A SCIM token has the form scim_<43><6>: 32 random bytes as base64url, and a keyed check over the preceding text. With this
// entropy a fast hash is safe, and the row can be looked up by the hash.
import { type KeyObject, hash } from 'node:crypto'
import { computeKeyedCheck, hasKeyedCheck } from '../../platform/credentials/keyed-check.ts'

export const scimTokenBytes = 32
const tokenPattern = /^scim_[A-Za-z0-9_-]{43}[0-9A-Za-z]{6}$/
const prefixLength = 13

/** Returns the token for these random bytes and the values to store for it. */
export function buildScimToken(
  random: Buffer,
  checkKey: KeyObject,
): { token: string; tokenPrefix: string; tokenHash: Buffer } {
  const body = `scim_${random.toString('base64url')}`
  const token = body + computeKeyedCheck(body, checkKey)
  return { token, tokenPrefix: token.slice(0, prefixLength), tokenHash: hashToken(token) }
}

/** Returns the hash of a token, or null if no installation with one of these keys can have issued it. */
export const parseScimToken = (text: string, checkKeys: readonly KeyObject[]): Buffer | null =>
  tokenPattern.test(text) && hasKeyedCheck(text, checkKeys) ? hashToken(text) : null

const hashToken = (token: string): Buffer => hash('sha256', token, 'buffer')
