// A terminal may send its key in either base64 alphabet, with or without padding, because libraries differ in both.
const bytes = 32
const form = /^(?:[A-Za-z0-9+/]{43}|[\w-]{43})=?$/

/** Returns the 32 bytes, or null if the text is not a key. */
export function parsePublicKey(text: string): Buffer | null {
  const key = form.test(text) ? Buffer.from(text, 'base64url') : null
  // The last character has bits that belong to no byte. A text in which they are set is not a valid encoding.
  const digits = text.replace('=', '').replaceAll('+', '-').replaceAll('/', '_')
  return key?.length === bytes && key.toString('base64url') === digits ? key : null
}
