// The form of a machine token: 32 random bytes as 43 base64url characters. Its entropy makes a fast hash safe, and the
// hash is what the row is found by.
import { hash } from 'node:crypto'

export const tokenBytes = 32
const form = /^[A-Za-z0-9_-]{43}$/
const prefixLength = 8

/** The token made of these random bytes, and what is stored of it. */
export function buildMachineToken(random: Buffer): { token: string; tokenPrefix: string; tokenHash: Buffer } {
  const token = random.toString('base64url')
  return { token, tokenPrefix: token.slice(0, prefixLength), tokenHash: hashOf(token) }
}

/** The hash of a text in the form of a machine token, or null. */
export const machineTokenHash = (text: string): Buffer | null => (form.test(text) ? hashOf(text) : null)

const hashOf = (token: string): Buffer => hash('sha256', token, 'buffer')
