// What a form has to carry: proof that this person was shown the page of this thing. Nobody else can make or use it.
import { type KeyObject, createHmac, timingSafeEqual } from 'node:crypto'

type Shown = { userId: string; thingId: string }

/** The token of a form. */
export const formToken = (key: KeyObject, { userId, thingId }: Shown): string =>
  createHmac('sha256', key).update(`${userId} ${thingId}`).digest('base64url')

/** Whether a form carries the token of this person and thing. */
export function isFormToken(key: KeyObject, shown: Shown, given: string): boolean {
  const [expected, other] = [Buffer.from(formToken(key, shown)), Buffer.from(given)]
  return expected.length === other.length && timingSafeEqual(expected, other)
}
