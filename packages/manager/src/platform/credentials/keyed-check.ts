// The keyed check at the end of a token: a token that was never issued is rejected without a lookup. The kinds of tokens use
// the same key, so that one retired key verifies all of them. Their prefixes keep the checked texts apart.
import { type KeyObject, createHmac, timingSafeEqual } from 'node:crypto'

/** The digits and letters of which the text of a check consists. */
export const tokenAlphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const checkLength = 6

/** Returns the check of the text, 6 characters. */
export function computeKeyedCheck(body: string, checkKey: KeyObject): string {
  let remainder = createHmac('sha256', checkKey).update(body).digest().readUIntBE(0, 6)
  let text = ''
  for (let i = 0; i < checkLength; i++) {
    text += tokenAlphabet.charAt(remainder % tokenAlphabet.length)
    remainder = Math.floor(remainder / tokenAlphabet.length)
  }
  return text
}

/** Whether the text ends with a correct check. A random guess passes with a probability of 1 in 5.7e10. */
export const hasKeyedCheck = (text: string, checkKeys: readonly KeyObject[]): boolean =>
  checkKeys.some((checkKey) =>
    timingSafeEqual(
      Buffer.from(computeKeyedCheck(text.slice(0, -checkLength), checkKey)),
      Buffer.from(text.slice(-checkLength)),
    ),
  )
