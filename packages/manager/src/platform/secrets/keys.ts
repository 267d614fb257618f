// Keys derived from the installation's master key. Each purpose has its own label, so one key never serves two.
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

/** A secret key for one purpose. */
export const deriveSecretKey = (masterKey: Buffer, purpose: string): KeyObject =>
  createSecretKey(deriveKey(masterKey, purpose))

/** The keys that seal stored secrets: those configured, and behind them the one derived from the master key. */
export function encryptionRing(
  masterKey: Buffer,
  configured: ReadonlyMap<string, Buffer> = new Map(),
): ReadonlyMap<string, KeyObject> {
  const ring = new Map<string, KeyObject>()
  for (const [id, key] of configured) ring.set(id, createSecretKey(key))
  return ring.set('master', deriveSecretKey(masterKey, 'stored-secrets'))
}

/** 32 bytes for one purpose. */
function deriveKey(masterKey: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', masterKey, Buffer.alloc(0), `svc:${purpose}`, 32))
}

// RFC 8410: the fixed DER prefixes of an Ed25519 private and public key; the 32 bytes of the seed or point follow.
const ed25519Prefix = Buffer.from('302e020100300506032b657004220420', 'hex')
const ed25519PublicPrefix = Buffer.from('302a300506032b6570032100', 'hex')

export type VerifyingKey = { keyId: string; verify(message: Buffer, signature: Buffer): boolean }
export type SigningKey = VerifyingKey & { publicKey: Buffer; sign(message: Buffer): Buffer }

/** The Ed25519 key for one purpose. */
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

/** The public half, from its raw 32 bytes; keyId is the first 16 hex digits of their SHA-256. */
export function createVerifyingKey(publicKey: Buffer): VerifyingKey {
  const der = Buffer.concat([ed25519PublicPrefix, publicKey])
  const publicObject = createPublicKey({ key: der, format: 'der', type: 'spki' })
  return {
    keyId: fingerprint(publicKey),
    verify: (message, signature) => verify(null, message, publicObject, signature),
  }
}

/** The id of a master key: tells two keys apart and nothing about either. */
export const masterKeyId = (masterKey: Buffer): string => fingerprint(deriveKey(masterKey, 'key-id'))

const fingerprint = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex').slice(0, 16)
