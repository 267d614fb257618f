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

// RFC 8410: the fixed DER prefix of an Ed25519 private key; the 32 bytes of the seed follow it.
const ed25519Prefix = Buffer.from('302e020100300506032b657004220420', 'hex')

export type SigningKey = {
  keyId: string
  publicKey: Buffer
  sign(message: Buffer): Buffer
  verify(message: Buffer, signature: Buffer): boolean
}

/** The Ed25519 key for one purpose; keyId is the first 16 hex digits of the SHA-256 of the raw public key. */
export function createSigningKey(masterKey: Buffer, purpose: string): SigningKey {
  const der = Buffer.concat([ed25519Prefix, deriveKey(masterKey, purpose)])
  const privateKey: KeyObject = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const publicObject = createPublicKey(privateKey)
  const publicKey = publicObject.export({ format: 'der', type: 'spki' }).subarray(-32)
  return {
    keyId: createHash('sha256').update(publicKey).digest('hex').slice(0, 16),
    publicKey,
    sign: (message) => sign(null, message, privateKey),
    verify: (message, signature) => verify(null, message, publicObject, signature),
  }
}
