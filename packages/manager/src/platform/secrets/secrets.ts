// Seals secrets that the service must be able to read again, such as partner passwords. Each secret is encrypted with
// AES-256-GCM under its own key, which is wrapped by a key of the ring. Both are bound to the row and column that store
// them, so a sealed secret does not open in another row. Rotation only rewraps the key; the encrypted secret is
// unchanged.
import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'

/** The row and column a secret is stored in. */
type SecretLocation = { table: string; column: string; id: string }

/** Seals and opens secrets. */
export type Secrets = {
  /** The id of the key that new secrets are wrapped with. */
  activeKeyId: string
  seal(text: string, location: SecretLocation): Buffer
  /** Throws if the secret was sealed for another row or column, was modified, or its key is not in the ring. */
  open(sealed: Buffer, location: SecretLocation): string
  /** Returns the same secret, wrapped with the active key. */
  rewrap(sealed: Buffer, location: SecretLocation): Buffer
}

const algorithm = 'aes-256-gcm'
const format = 1
const [nonceBytes, tagBytes, keyBytes] = [12, 16, 32]
const wrappedBytes = nonceBytes + keyBytes + tagBytes

/** `ring` maps key ids to keys; its first entry is the active one. */
export function createSecrets(ring: ReadonlyMap<string, KeyObject>): Secrets {
  const [active] = ring
  if (active === undefined) throw new Error('the encryption key ring is empty')
  const [activeKeyId, activeKey] = active
  const wrap = (key: Buffer, location: SecretLocation): Buffer => {
    const head = headOf(activeKeyId)
    return Buffer.concat([head, encrypt(activeKey, key, contextOf(location, head))])
  }
  const unwrap = (sealed: Buffer, location: SecretLocation): { key: Buffer; rest: Buffer } => {
    const { keyId, head, rest } = split(sealed)
    const wrapping = ring.get(keyId)
    if (wrapping === undefined) throw new Error(`the encryption key ${keyId} is not in the ring`)
    const key = decrypt(wrapping, rest.subarray(0, wrappedBytes), contextOf(location, head))
    return { key, rest: rest.subarray(wrappedBytes) }
  }
  return {
    activeKeyId,
    seal: (text, location) => {
      const key = randomBytes(keyBytes)
      const body = encrypt(createSecretKey(key), Buffer.from(text), contextOf(location))
      return Buffer.concat([wrap(key, location), body])
    },
    open: (sealed, location) => {
      const { key, rest } = unwrap(sealed, location)
      return decrypt(createSecretKey(key), rest, contextOf(location)).toString('utf8')
    },
    rewrap: (sealed, location) => {
      const { key, rest } = unwrap(sealed, location)
      return Buffer.concat([wrap(key, location), rest])
    },
  }
}

/** Returns the id of the key that a sealed secret is wrapped with. */
export const sealedWith = (sealed: Buffer): string => split(sealed).keyId

const headOf = (keyId: string): Buffer =>
  Buffer.concat([Buffer.from([format, keyId.length]), Buffer.from(keyId, 'latin1')])

function split(sealed: Buffer): { keyId: string; head: Buffer; rest: Buffer } {
  if (sealed[0] !== format) throw new Error('a sealed secret has an unknown format')
  const end = 2 + (sealed[1] ?? 0)
  return {
    keyId: sealed.toString('latin1', 2, end),
    head: sealed.subarray(0, end),
    rest: sealed.subarray(end),
  }
}

const contextOf = ({ table, column, id }: SecretLocation, head: Buffer = Buffer.alloc(0)): Buffer =>
  Buffer.concat([head, Buffer.from(`|${table}|${column}|${id}`)])

function encrypt(key: KeyObject, plain: Buffer, context: Buffer): Buffer {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv(algorithm, key, nonce)
  cipher.setAAD(context)
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

function decrypt(key: KeyObject, sealed: Buffer, context: Buffer): Buffer {
  if (sealed.length < nonceBytes + tagBytes) throw new Error('a sealed secret is too short')
  const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, nonceBytes))
  decipher.setAAD(context)
  decipher.setAuthTag(sealed.subarray(-tagBytes))
  return Buffer.concat([decipher.update(sealed.subarray(nonceBytes, -tagBytes)), decipher.final()])
}
