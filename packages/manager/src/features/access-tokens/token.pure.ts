// A personal access token has the form pat_<8>_<32>. The 8 characters identify the row. The last 6 of the 32
// characters are a keyed checksum over the preceding text. Forged tokens are therefore rejected without a
// lookup and without the slow hash.
import { type KeyObject, createHmac, timingSafeEqual } from 'node:crypto'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const tokenPattern = /^pat_([0-9A-Za-z]{8})_[0-9A-Za-z]{32}$/
const checksumLength = 6

/** The number of random characters in the prefix and in the secret of a new token. */
export const randomLength = { prefix: 8, secret: 26 }

/**
 * Returns `count` characters of the token alphabet. `pick` draws a number from 0 up to, but not including, its
 * argument.
 */
export const createRandomText = (count: number, pick: (below: number) => number): string =>
  Array.from({ length: count }, () => alphabet.charAt(pick(alphabet.length))).join('')

export function buildToken(prefix: string, secret: string, checkKey: KeyObject): string {
  const body = `pat_${prefix}_${secret}`
  return body + computeChecksum(body, checkKey)
}

/** Returns the prefix of a well-formed token, or null. */
export const parseTokenPrefix = (text: string): string | null => tokenPattern.exec(text)?.[1] ?? null

/**
 * Returns whether a well-formed token ends with the correct checksum. A random guess passes with a probability of 1 in
 * 5.7e10.
 */
export const hasValidChecksum = (token: string, checkKeys: readonly KeyObject[]): boolean =>
  checkKeys.some((checkKey) =>
    timingSafeEqual(
      Buffer.from(computeChecksum(token.slice(0, -checksumLength), checkKey)),
      Buffer.from(token.slice(-checksumLength)),
    ),
  )

function computeChecksum(body: string, checkKey: KeyObject): string {
  let remainder = createHmac('sha256', checkKey).update(body).digest().readUIntBE(0, 6)
  let text = ''
  for (let i = 0; i < checksumLength; i++) {
    text += alphabet.charAt(remainder % alphabet.length)
    remainder = Math.floor(remainder / alphabet.length)
  }
  return text
}
