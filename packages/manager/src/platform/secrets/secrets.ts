// Secrets the service must be able to read again, such as the passwords of partners, are sealed: AES-256-GCM with their
// own key, which is wrapped by a key of the ring. Both are bound to the place they are stored in, so that a sealed
// secret that is moved to another row does not open. Changing keys wraps it again; the secret itself is not touched.
import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'

/** The row and column a secret is stored in. */
type SecretPlace = { table: string; column: string; id: string }

export type Secrets = {
  /** The id of the key that new secrets are wrapped with. */
  activeKeyId: string
  seal(text: string, place: SecretPlace): Buffer
  /** Throws when the secret was sealed for another place, was changed, or its key is not in the ring. */
  open(sealed: Buffer, place: SecretPlace): string
  /** The same secret under the active key. */
  rewrap(sealed: Buffer, place: SecretPlace): Buffer
}

const algorithm = 'aes-256-gcm'
const format = 1
const [nonceBytes, tagBytes, keyBytes] = [12, 16, 32]
const wrappedBytes = nonceBytes + keyBytes + tagBytes

/** `ring` maps key ids to keys; its first entry is the active one. */
export function createSecrets(ring: ReadonlyMap<string, KeyObject>): Secrets {
  const [active] = ring
  if (active === undefined) throw new Error('the ring of encryption keys is empty')
  const [activeKeyId, activeKey] = active
  const wrap = (key: Buffer, place: SecretPlace): Buffer => {
    const head = headOf(activeKeyId)
    return Buffer.concat([head, encrypt(activeKey, key, contextOf(place, head))])
  }
  const unwrap = (sealed: Buffer, place: SecretPlace): { key: Buffer; rest: Buffer } => {
    const { keyId, head, rest } = split(sealed)
    const wrapping = ring.get(keyId)
    if (wrapping === undefined) throw new Error(`the encryption key ${keyId} is not in the ring`)
    const key = decrypt(wrapping, rest.subarray(0, wrappedBytes), contextOf(place, head))
    return { key, rest: rest.subarray(wrappedBytes) }
  }
  return {
    activeKeyId,
    seal: (text, place) => {
      const key = randomBytes(keyBytes)
      const body = encrypt(createSecretKey(key), Buffer.from(text), contextOf(place))
      return Buffer.concat([wrap(key, place), body])
    },
    open: (sealed, place) => {
      const { key, rest } = unwrap(sealed, place)
      return decrypt(createSecretKey(key), rest, contextOf(place)).toString('utf8')
    },
    rewrap: (sealed, place) => {
      const { key, rest } = unwrap(sealed, place)
      return Buffer.concat([wrap(key, place), rest])
    },
  }
}

/** The id of the key a sealed secret is wrapped with. */
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

const contextOf = ({ table, column, id }: SecretPlace, head: Buffer = Buffer.alloc(0)): Buffer =>
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
