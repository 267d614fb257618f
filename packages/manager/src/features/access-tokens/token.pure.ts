// The form of a personal access token: pat_<8>_<32>. The 8 find the row. Of the 32, the last 6 are a keyed check over
// the rest, so that a token we never issued is refused without looking it up and without the slow hash.
import { type KeyObject, createHmac, timingSafeEqual } from 'node:crypto'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const form = /^pat_([0-9A-Za-z]{8})_[0-9A-Za-z]{32}$/
const checkLength = 6

/** Random characters a new token needs: its prefix and the unguessable part. */
export const randomLength = { prefix: 8, secret: 26 }

/** `count` characters of the token alphabet; `pick` draws a number from 0 below its argument. */
export const randomText = (count: number, pick: (below: number) => number): string =>
  Array.from({ length: count }, () => alphabet.charAt(pick(alphabet.length))).join('')

/** Puts a token together. */
export function buildToken(prefix: string, secret: string, checkKey: KeyObject): string {
  const body = `pat_${prefix}_${secret}`
  return body + checkOf(body, checkKey)
}

/** The prefix of a text in the form of a token, or null. */
export const tokenPrefix = (text: string): string | null => form.exec(text)?.[1] ?? null

/** Whether the last characters of a well-formed token are the check over the rest: one in 5.7e10 guesses passes. */
export const hasRightCheck = (token: string, checkKeys: readonly KeyObject[]): boolean =>
  checkKeys.some((checkKey) =>
    timingSafeEqual(
      Buffer.from(checkOf(token.slice(0, -checkLength), checkKey)),
      Buffer.from(token.slice(-checkLength)),
    ),
  )

function checkOf(body: string, checkKey: KeyObject): string {
  let rest = createHmac('sha256', checkKey).update(body).digest().readUIntBE(0, 6)
  let text = ''
  for (let i = 0; i < checkLength; i++) {
    text += alphabet.charAt(rest % alphabet.length)
    rest = Math.floor(rest / alphabet.length)
  }
  return text
}
