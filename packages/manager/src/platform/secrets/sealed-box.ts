// Sealed boxes of libsodium (crypto_box_seal): anyone can seal a message to a public key, and only the private key
// opens it. The library is loaded on first use, because few processes need it.

async function loadSodium() {
  const { default: sodium } = await import('libsodium-wrappers')
  await sodium.ready
  return sodium
}

/** Returns the message in a box that is sealed to this X25519 key. */
export async function sealTo(publicKey: Uint8Array, message: Uint8Array): Promise<Buffer> {
  const sodium = await loadSodium()
  return Buffer.from(sodium.crypto_box_seal(message, publicKey))
}

/** Returns false for the few points that always lead to the same shared secret: anyone could open a box to them. */
export async function isUsablePublicKey(publicKey: Uint8Array): Promise<boolean> {
  const sodium = await loadSodium()
  try {
    // The multiplication fails exactly for these points.
    sodium.crypto_scalarmult(sodium.randombytes_buf(sodium.crypto_scalarmult_SCALARBYTES), publicKey)
    return true
  } catch {
    return false
  }
}
