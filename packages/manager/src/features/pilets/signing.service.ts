// Signatures of bundles: a ring of Ed25519 keys, of which one signs. A bundle is signed when it is uploaded; the browser
// that loads it trusts the keys its page was given, not this service.
import { type KeyObject, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto'
import { promisify } from 'node:util'
import { type Audit, systemActor } from '../../platform/audit/append.ts'
import { auditedEntity } from '../../platform/audit/entity.ts'
import type { Db, Reads, Tx } from '../../platform/postgres/handles.ts'
import { createDbErrorReader } from '../../platform/postgres/db-errors.ts'
import { badRequest, conflict } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { type StatedPackage, isStatement, statementOf } from '../../platform/inputs/package-statement.ts'
import { createVerifyingKey } from '../../platform/secrets/keys.ts'
import type { LockMasterKey } from '../../platform/secrets/master-key.ts'
import type { Secrets } from '../../platform/secrets/secrets.ts'
import * as store from './signing.store.ts'

export type SigningDeps = { db: Db; secrets: Secrets; lockMasterKey: LockMasterKey; audit: Audit }
export type Signing = ReturnType<typeof createSigning>
/** Over the bytes, and over the statement that says which package they are; by the same key. */
export type Signature = {
  signature: Buffer
  keyId: string
  statementSignature: Buffer
  statementKeyId: string
}
type Key = store.SigningKeyRow
type AuditedKey = Pick<Key, 'id' | 'keyId' | 'isActive'>

const event = auditedEntity<AuditedKey>({
  type: 'piletSigningKey',
  classes: { id: 'public', keyId: 'public', isActive: 'public' },
  nameOf: ({ keyId }) => keyId,
  projectOf: () => null,
})
const audited = ({ id, keyId, isActive }: Key): AuditedKey => ({ id, keyId, isActive })

// In a thread: the message is read twice, and may have megabytes.
const signInThread = promisify<null, Buffer, KeyObject, Buffer>(sign)

/** Which key signs is read at every use: an activation counts at once, in every process. */
export function createSigning({ db, secrets, lockMasterKey, audit }: SigningDeps) {
  const open = createOpener(secrets)
  /** One after the other. The master key comes first, as in its exchange, so that neither waits for the other. */
  const changeRing = <T>(work: (tx: Tx) => Promise<T>): Promise<T> =>
    db.transaction(async (tx) => {
      await lockMasterKey(tx)
      await store.lockRing(tx)
      return work(tx)
    })
  /** Adds a key; it signs when no other does. */
  const add = async (tx: Tx, actorName: string): Promise<Key> => {
    const isActive = (await store.findActiveKey(tx)) === undefined
    const key = await store.insertKey(tx, { ...newKey(secrets), isActive })
    await audit.append(tx, systemActor(actorName), event('create', { before: null, after: audited(key) }))
    return key
  }
  /** The key that signs now; the first use of a new installation makes it. */
  const activeKey = async (): Promise<Key> =>
    (await store.findActiveKey(db.read)) ??
    changeRing(async (tx) => (await store.findActiveKey(tx)) ?? add(tx, 'pilets'))

  return {
    /** Signs a package with the active key; throws 400 for bytes that could pass as a statement. */
    sign: async (bytes: Buffer, about: StatedPackage): Promise<Signature> => {
      const key = await activeKey()
      return signPackage(bytes, about, { keyId: key.keyId, privateKey: open(key) })
    },

    /** Makes a key; it signs once it is activated, the first one at once. */
    create: (): Promise<Key> => changeRing((tx) => add(tx, 'manager pilet-keys create')),

    /** From now on this key signs; false when it did already. */
    activate: (keyId: string): Promise<boolean> =>
      changeRing(async (tx) => {
        const [key, former] = [await findKey(tx, keyId), await store.findActiveKey(tx)]
        if (key.isActive) return false
        // One that does not open would fail every upload.
        open(key)
        await store.activateKey(tx, key.id)
        const changes = [former, key]
          .filter((row) => row !== undefined)
          .map((row) => ({ before: audited(row), after: { ...audited(row), isActive: row === key } }))
        const actor = systemActor('manager pilet-keys activate')
        await audit.append(tx, actor, ...changes.map((change) => event('update', change)))
        return true
      }),

    /** Removes a key from the ring; what it has signed must be gone or signed by another one. */
    remove: async (keyId: string): Promise<void> => {
      try {
        await changeRing(async (tx) => {
          const key = await findKey(tx, keyId)
          if (key.isActive) throw conflict(`the key ${keyId} is active; activate another one first`)
          await store.deleteKey(tx, key.id)
          const actor = systemActor('manager pilet-keys delete')
          await audit.append(tx, actor, event('delete', { before: audited(key), after: null }))
        })
      } catch (error) {
        throw stillUsed(keyId)(error) ?? error
      }
    },

    /** The key, or an error that says where to find its id. */
    find: (keyId: string): Promise<Key> => findKey(db.read, keyId),

    list: () => store.listKeys(db.read),

    countUnsigned: () => store.countUnsigned(db.read),

    /**
     * Key ids and public keys, base64: what pages are given to trust. Each is compared with its sealed private key, so
     * that nobody who can only write to the table brings in a key of their own.
     */
    publicKeys: async (): Promise<Record<string, string>> => {
      const keys = await store.findKeys(db.read)
      for (const key of keys) open(key)
      return Object.fromEntries(keys.map(({ keyId, publicKey }) => [keyId, publicKey.toString('base64')]))
    },
  }
}

async function signPackage(
  bytes: Buffer,
  about: StatedPackage,
  { keyId, privateKey }: { keyId: string; privateKey: KeyObject },
): Promise<Signature> {
  if (isStatement(bytes))
    throw badRequest(
      'the file begins like a signed statement about a pilet; send the bundle in the field file',
    )
  return {
    signature: await signInThread(null, bytes, privateKey),
    keyId,
    statementSignature: sign(null, Buffer.from(statementOf(about)), privateKey),
    statementKeyId: keyId,
  }
}

async function findKey(db: Reads, keyId: string): Promise<Key> {
  const key = await store.findKeyById(db, keyId)
  if (key === undefined)
    throw badRequest(`there is no signing key ${keyId}; \`manager pilet-keys list\` shows them`)
  return key
}

const stillUsed = (keyId: string) =>
  createDbErrorReader({
    pilet_packages_key_id_fkey: [
      'conflict',
      `pilets are signed with the key ${keyId}; \`manager pilet-keys sign --replacing ${keyId}\` signs them with the active one`,
    ],
  })

function newKey(secrets: Secrets): Omit<Key, 'isActive'> {
  const { privateKey } = generateKeyPairSync('ed25519')
  const publicKey = rawPublicKey(privateKey)
  const id = newId()
  const der = privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64')
  const sealed = secrets.seal(der, { ...store.privateKeyPlace, id })
  return { id, keyId: createVerifyingKey(publicKey).keyId, publicKey, privateKey: sealed }
}

const rawPublicKey = (privateKey: KeyObject): Buffer =>
  createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(-32)

/** Opens private keys, each once: the ring has a handful. The rest of the row must be what belongs to the key. */
function createOpener(secrets: Secrets) {
  const opened = new Map<string, { privateKey: KeyObject; publicKey: Buffer }>()
  const read = ({ id, keyId, privateKey: sealed }: Key) => {
    try {
      const der = Buffer.from(secrets.open(sealed, { ...store.privateKeyPlace, id }), 'base64')
      const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
      return { privateKey, publicKey: rawPublicKey(privateKey) }
    } catch (cause) {
      throw new Error(
        `the signing key ${keyId} does not open: it was changed, or its encryption key is missing (\`manager keys status\`)`,
        { cause },
      )
    }
  }
  return (row: Key): KeyObject => {
    const key = opened.get(row.keyId) ?? read(row)
    if (!key.publicKey.equals(row.publicKey) || createVerifyingKey(key.publicKey).keyId !== row.keyId)
      throw new Error(
        `the signing key ${row.keyId} was changed: its public key is not that of its private key; restore the row from a backup`,
      )
    opened.set(row.keyId, key)
    return key.privateKey
  }
}
