// Keys derived from the master key of the installation. Each purpose has its own label, so that no key serves two
// purposes.
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto'

/** Derives the secret key for one purpose. */
export const deriveSecretKey = (masterKey: Buffer, purpose: string): KeyObject =>
  createSecretKey(deriveKey(masterKey, purpose))

/** Returns the keys that seal stored secrets: the configured keys, followed by one derived from the master key. */
export function createEncryptionRing(
  masterKey: Buffer,
  configuredKeys: ReadonlyMap<string, Buffer> = new Map(),
): ReadonlyMap<string, KeyObject> {
  const ring = new Map<string, KeyObject>()
  for (const [id, key] of configuredKeys) ring.set(id, createSecretKey(key))
  return ring.set('master', deriveSecretKey(masterKey, 'stored-secrets'))
}

/** Derives 32 bytes for one purpose. */
function deriveKey(masterKey: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', masterKey, Buffer.alloc(0), `svc:${purpose}`, 32))
}

// RFC 8410: the fixed DER prefixes of Ed25519 private and public keys. The 32 bytes of the seed or point follow.
const ed25519Prefix = Buffer.from('302e020100300506032b657004220420', 'hex')
const ed25519PublicPrefix = Buffer.from('302a300506032b6570032100', 'hex')

/** Verifies signatures. */
export type VerifyingKey = { keyId: string; verify(message: Buffer, signature: Buffer): boolean }
/** Signs messages and verifies the signatures. */
export type SigningKey = VerifyingKey & { publicKey: Buffer; sign(message: Buffer): Buffer }

/** Derives the Ed25519 key for one purpose. */
export function createSigningKey(masterKey: Buffer, purpose: string): SigningKey {
  const der = Buffer.concat([ed25519Prefix, deriveKey(masterKey, purpose)])
  const privateKey: KeyObject = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const publicKey = createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(-32)
  return {
    ...createVerifyingKey(publicKey),
    publicKey,
    sign: (message) => sign(null, message, privateKey),
  }
}

/** Creates the public key from its raw 32 bytes; keyId is the first 16 hex digits of their SHA-256. */
export function createVerifyingKey(publicKey: Buffer): VerifyingKey {
  const der = Buffer.concat([ed25519PublicPrefix, publicKey])
  const publicKeyObject = createPublicKey({ key: der, format: 'der', type: 'spki' })
  return {
    keyId: computeFingerprint(publicKey),
    verify: (message, signature) => verify(null, message, publicKeyObject, signature),
  }
}

/** Returns the id of a master key, which distinguishes keys but reveals nothing about them. */
export const computeMasterKeyId = (masterKey: Buffer): string =>
  computeFingerprint(deriveKey(masterKey, 'key-id'))

const computeFingerprint = (bytes: Buffer): string =>
  createHash('sha256').update(bytes).digest('hex').slice(0, 16)
