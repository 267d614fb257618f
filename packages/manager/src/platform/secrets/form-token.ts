// Form tokens prove that the page of this object was shown to this user. No other user can create or use the token.
import { type KeyObject, createHmac, timingSafeEqual } from 'node:crypto'

type FormTarget = { userId: string; objectId: string }

/** Returns the token to include in a form. */
export const formToken = (key: KeyObject, { userId, objectId }: FormTarget): string =>
  createHmac('sha256', key).update(`${userId} ${objectId}`).digest('base64url')

/** Whether a submitted token belongs to this user and object; compares in constant time. */
export function isFormToken(key: KeyObject, target: FormTarget, given: string): boolean {
  const [expected, other] = [Buffer.from(formToken(key, target)), Buffer.from(given)]
  return expected.length === other.length && timingSafeEqual(expected, other)
}
