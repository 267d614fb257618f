// The key that a terminal sends, in either alphabet of base64, with or without padding: libraries differ in both.
const bytes = 32
const form = /^(?:[A-Za-z0-9+/]{43}|[\w-]{43})=?$/

/** The 32 bytes, or null when the text is anything else. */
export function parsePublicKey(text: string): Buffer | null {
  const key = form.test(text) ? Buffer.from(text, 'base64url') : null
  // The last letter holds bits that belong to no byte; a text in which they are set stands for no bytes.
  const digits = text.replace('=', '').replaceAll('+', '-').replaceAll('/', '_')
  return key?.length === bytes && key.toString('base64url') === digits ? key : null
}
