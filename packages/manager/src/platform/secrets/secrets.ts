// Seals secrets that the service must be able to read again, such as partner passwords. Each secret is
// encrypted with AES-256-GCM under its own key, which is wrapped by a key of the ring. Both are bound to the
// row and column that store them, so a sealed secret does not open in a different row. Rotation only rewraps
// the key; the encrypted secret is unchanged.
import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { decrypt, encrypt, nonceBytes, tagBytes } from './encryption.ts'

/** The row and column in which a secret is stored. */
type SecretLocation = { table: string; column: string; id: string }

/** Seals and opens secrets. */
export type Secrets = {
  /** The id of the key that wraps new secrets. */
  activeKeyId: string
  seal(text: string, location: SecretLocation): Buffer
  /**
   * Throws if the secret was sealed for a different row or column or was modified, or if its key is not in the ring.
   */
  open(sealed: Buffer, location: SecretLocation): string
  /** Returns the same secret, wrapped with the active key. */
  rewrap(sealed: Buffer, location: SecretLocation): Buffer
}

const format = 1
const keyBytes = 32
const wrappedBytes = nonceBytes + keyBytes + tagBytes

/** `ring` maps key ids to keys; its first entry is the active one. */
export function createSecrets(ring: ReadonlyMap<string, KeyObject>): Secrets {
  const [activeEntry] = ring
  if (activeEntry === undefined) throw new Error('the encryption key ring is empty')
  const [activeKeyId, activeKey] = activeEntry
  const wrap = (key: Buffer, location: SecretLocation): Buffer => {
    const head = createHead(activeKeyId)
    return Buffer.concat([head, encrypt(activeKey, key, createContext(location, head))])
  }
  const unwrap = (sealed: Buffer, location: SecretLocation): { key: Buffer; remainder: Buffer } => {
    const { keyId, head, remainder } = parseSealed(sealed)
    const wrappingKey = ring.get(keyId)
    if (wrappingKey === undefined) throw new Error(`the encryption key ${keyId} is not in the ring`)
    const key = decrypt(wrappingKey, remainder.subarray(0, wrappedBytes), createContext(location, head))
    return { key, remainder: remainder.subarray(wrappedBytes) }
  }
  return {
    activeKeyId,
    seal: (text, location) => {
      const key = randomBytes(keyBytes)
      const body = encrypt(createSecretKey(key), Buffer.from(text), createContext(location))
      return Buffer.concat([wrap(key, location), body])
    },
    open: (sealed, location) => {
      const { key, remainder } = unwrap(sealed, location)
      return decrypt(createSecretKey(key), remainder, createContext(location)).toString('utf8')
    },
    rewrap: (sealed, location) => {
      const { key, remainder } = unwrap(sealed, location)
      return Buffer.concat([wrap(key, location), remainder])
    },
  }
}

/** Returns the id of the key that wraps a sealed secret. */
export const readSealingKeyId = (sealed: Buffer): string => parseSealed(sealed).keyId

const createHead = (keyId: string): Buffer =>
  Buffer.concat([Buffer.from([format, keyId.length]), Buffer.from(keyId, 'latin1')])

function parseSealed(sealed: Buffer): { keyId: string; head: Buffer; remainder: Buffer } {
  if (sealed[0] !== format) throw new Error('a sealed secret has an unknown format')
  const end = 2 + (sealed[1] ?? 0)
  return {
    keyId: sealed.toString('latin1', 2, end),
    head: sealed.subarray(0, end),
    remainder: sealed.subarray(end),
  }
}

const createContext = ({ table, column, id }: SecretLocation, head: Buffer = Buffer.alloc(0)): Buffer =>
  Buffer.concat([head, Buffer.from(`|${table}|${column}|${id}`)])
