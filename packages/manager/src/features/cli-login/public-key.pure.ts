// A terminal may send its key in either base64 alphabet, with or without padding, because libraries differ.
const keyLength = 32
const keyPattern = /^(?:[A-Za-z0-9+/]{43}|[\w-]{43})=?$/

/** Returns the 32 bytes of the key, or null if the string is not a key. */
export function parsePublicKey(text: string): Buffer | null {
  const key = keyPattern.test(text) ? Buffer.from(text, 'base64url') : null
  // The last character contains unused bits. A string in which these bits are set is not a valid encoding.
  const base64url = text.replace('=', '').replaceAll('+', '-').replaceAll('/', '_')
  return key?.length === keyLength && key.toString('base64url') === base64url ? key : null
}
