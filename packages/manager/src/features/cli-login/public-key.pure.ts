// The key that a terminal sends: base64 as every library writes it, with its padding.
const bytes = 32
const form = /^[A-Za-z0-9+/]{43}=$/

/** The 32 bytes, or null when the text is anything else. */
export function parsePublicKey(text: string): Buffer | null {
  const key = form.test(text) ? Buffer.from(text, 'base64') : null
  // The last letter before the padding holds bits that belong to no byte; one spelling is enough.
  return key?.length === bytes && key.toString('base64') === text ? key : null
}
