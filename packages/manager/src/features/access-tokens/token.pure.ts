// A personal access token has the form pat_<8>_<32>. The 8 characters identify the row. The last 6 of the 32
// characters are a keyed checksum over the preceding text. Forged tokens are therefore rejected without a
// lookup and without the slow hash.
import type { KeyObject } from 'node:crypto'
import { computeKeyedCheck, hasKeyedCheck, tokenAlphabet } from '../../platform/credentials/keyed-check.ts'

const tokenPattern = /^pat_([0-9A-Za-z]{8})_[0-9A-Za-z]{32}$/

/** The number of random characters in the prefix and in the secret of a new token. */
export const randomLength = { prefix: 8, secret: 26 }

/**
 * Returns `count` characters of the token alphabet. `pick` draws a number from 0 up to, but not including, its
 * argument.
 */
export const createRandomText = (count: number, pick: (below: number) => number): string =>
  Array.from({ length: count }, () => tokenAlphabet.charAt(pick(tokenAlphabet.length))).join('')

export function buildToken(prefix: string, secret: string, checkKey: KeyObject): string {
  const body = `pat_${prefix}_${secret}`
  return body + computeKeyedCheck(body, checkKey)
}

/** Returns the prefix of a well-formed token, or null. */
export const parseTokenPrefix = (text: string): string | null => tokenPattern.exec(text)?.[1] ?? null

/** Returns whether a well-formed token ends with the correct checksum. */
export const hasValidChecksum = hasKeyedCheck
