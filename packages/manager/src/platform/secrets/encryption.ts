// Encrypts and authenticates short texts with AES-256-GCM. The context is authenticated too, but not part of the result.
import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto'

const algorithm = 'aes-256-gcm'
export const [nonceBytes, tagBytes] = [12, 16]

/** Returns the nonce, the encrypted text and the tag. Only `decrypt` with the same context can read them. */
export function encrypt(key: KeyObject, plaintext: Buffer, context: Buffer): Buffer {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv(algorithm, key, nonce)
  cipher.setAAD(context)
  return Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()])
}

/** Throws if the text was encrypted with a different key or context, or was modified. */
export function decrypt(key: KeyObject, sealed: Buffer, context: Buffer): Buffer {
  if (sealed.length < nonceBytes + tagBytes) throw new Error('the encrypted text is too short')
  const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, nonceBytes))
  decipher.setAAD(context)
  decipher.setAuthTag(sealed.subarray(-tagBytes))
  return Buffer.concat([decipher.update(sealed.subarray(nonceBytes, -tagBytes)), decipher.final()])
}
