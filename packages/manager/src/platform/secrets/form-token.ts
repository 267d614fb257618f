// Form tokens prove that the page of this object was shown to this user. No other user can create or use the token.
import { type KeyObject, createHmac, timingSafeEqual } from 'node:crypto'

type FormTarget = { userId: string; objectId: string }

/** Returns the token to include in a form. */
export const createFormToken = (key: KeyObject, { userId, objectId }: FormTarget): string =>
  createHmac('sha256', key).update(`${userId} ${objectId}`).digest('base64url')

/** Whether a submitted token belongs to this user and object; compares in constant time. */
export function isFormToken(key: KeyObject, target: FormTarget, submittedToken: string): boolean {
  const [expected, actual] = [Buffer.from(createFormToken(key, target)), Buffer.from(submittedToken)]
  return expected.length === actual.length && timingSafeEqual(expected, actual)
}
