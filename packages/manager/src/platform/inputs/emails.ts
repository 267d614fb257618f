/**
 * Returns the form of an e-mail address that is compared: without surrounding spaces, and with A-Z in lower case. Other
 * letters stay as they are, because `toLowerCase` maps some of them to a-z, for example U+212A to k. In SQL,
 * `lower(email collate "C")` does the same.
 */
export const normalizeEmail = (email: string): string =>
  email.trim().replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
