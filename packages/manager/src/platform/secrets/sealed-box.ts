// Sealed boxes of libsodium (crypto_box_seal): anyone can seal something to a public key, and only who has the private key
// opens it. The library is loaded with the first use, which few processes come to.

async function load() {
  const { default: sodium } = await import('libsodium-wrappers')
  await sodium.ready
  return sodium
}

/** The bytes in a box to this X25519 key. */
export async function sealTo(publicKey: Uint8Array, message: Uint8Array): Promise<Buffer> {
  const sodium = await load()
  return Buffer.from(sodium.crypto_box_seal(message, publicKey))
}

/** False for the few points that make every secret the same: a box to one of them is open to all. */
export async function isUsablePublicKey(publicKey: Uint8Array): Promise<boolean> {
  const sodium = await load()
  try {
    // Fails exactly for them.
    sodium.crypto_scalarmult(sodium.randombytes_buf(sodium.crypto_scalarmult_SCALARBYTES), publicKey)
    return true
  } catch {
    return false
  }
}
