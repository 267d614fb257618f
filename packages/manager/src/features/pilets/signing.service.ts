// Signs bundles with one active key of a ring of Ed25519 keys. A bundle is signed on upload. The browser that loads it
// trusts the keys in its page, not this service.
import { type KeyObject, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto'
import { promisify } from 'node:util'
import { type Audit, createSystemActor } from '../../platform/audit/append.ts'
import { createEventBuilder } from '../../platform/audit/entity.ts'
import type { Db, Reads, Tx } from '../../platform/postgres/handles.ts'
import { createDbErrorMapper } from '../../platform/postgres/db-errors.ts'
import { badRequest, conflict } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import {
  type PackageStatement,
  isStatement,
  formatStatement,
} from '../../platform/inputs/package-statement.ts'
import { createVerifyingKey } from '../../platform/secrets/keys.ts'
import type { LockMasterKey } from '../../platform/secrets/master-key.ts'
import type { Secrets } from '../../platform/secrets/secrets.ts'
import * as store from './signing.store.ts'

export type SigningDeps = { db: Db; secrets: Secrets; lockMasterKey: LockMasterKey; audit: Audit }
export type Signing = ReturnType<typeof createSigning>
/** Signatures of the bytes and of the package statement, made with the same key. */
export type Signature = {
  signature: Buffer
  keyId: string
  statementSignature: Buffer
  statementKeyId: string
}
type Key = store.SigningKeyRow
type AuditedKey = Pick<Key, 'id' | 'keyId' | 'isActive'>

const event = createEventBuilder<AuditedKey>({
  type: 'piletSigningKey',
  classes: { id: 'public', keyId: 'public', isActive: 'public' },
  nameOf: ({ keyId }) => keyId,
  projectOf: () => null,
})
const getAuditedFields = ({ id, keyId, isActive }: Key): AuditedKey => ({ id, keyId, isActive })

// Signing runs in a worker thread, because Ed25519 reads the message twice, and a message can be megabytes
// long.
const signInThread = promisify<null, Buffer, KeyObject, Buffer>(sign)

const createActivationEvent = (key: Key, isActive: boolean) => {
  const before = getAuditedFields(key)
  return event('update', { before, after: { ...before, isActive } })
}

/**
 * Creates the signing service. It reads the active key on every use, so an activation takes effect immediately in every
 * process.
 */
export function createSigning({ db, secrets, lockMasterKey, audit }: SigningDeps) {
  const openKey = createKeyOpener(secrets)
  /** Serializes changes to the ring. The master key is locked first, as in its own rotation, to prevent deadlocks. */
  const changeRing = <T>(work: (tx: Tx) => Promise<T>): Promise<T> =>
    db.transaction(async (tx) => {
      await lockMasterKey(tx)
      await store.lockRing(tx)
      return work(tx)
    })
  /** Adds a key, which becomes active if no other key is active. */
  const addKey = async (tx: Tx, actorName: string): Promise<Key> => {
    const isActive = (await store.findActiveKey(tx)) === undefined
    const key = await store.insertKey(tx, { ...generateKey(secrets), isActive })
    const after = getAuditedFields(key)
    await audit.append(tx, createSystemActor(actorName), event('create', { before: null, after }))
    return key
  }
  /** Returns the active key, and creates it on first use in a new installation. */
  const getActiveKey = async (): Promise<Key> =>
    (await store.findActiveKey(db.read)) ??
    changeRing(async (tx) => (await store.findActiveKey(tx)) ?? addKey(tx, 'pilets'))

  return {
    /** Signs a package with the active key; throws 400 for bytes that could pass as a statement. */
    sign: async (bytes: Buffer, statement: PackageStatement): Promise<Signature> => {
      const key = await getActiveKey()
      return signPackage(bytes, statement, { keyId: key.keyId, privateKey: openKey(key) })
    },

    /** Creates a key. The first key is active immediately; later keys sign only after activation. */
    create: (): Promise<Key> => changeRing((tx) => addKey(tx, 'manager pilet-keys create')),

    /** Activates this key. Returns false if it was already active. */
    activate: (keyId: string): Promise<boolean> =>
      changeRing(async (tx) => {
        const [key, previous] = [await findKey(tx, keyId), await store.findActiveKey(tx)]
        if (key.isActive) return false
        // A key that cannot be decrypted would make every upload fail.
        openKey(key)
        await store.activateKey(tx, key.id)
        const events = [previous, key]
          .filter((row) => row !== undefined)
          .map((row) => createActivationEvent(row, row === key))
        await audit.append(tx, createSystemActor('manager pilet-keys activate'), ...events)
        return true
      }),

    /** Removes a key from the ring. Throws a conflict while packages are signed with it. */
    remove: async (keyId: string): Promise<void> => {
      try {
        await changeRing(async (tx) => {
          const key = await findKey(tx, keyId)
          if (key.isActive) throw conflict(`the key ${keyId} is active; activate another key first`)
          await store.deleteKey(tx, key.id)
          const actor = createSystemActor('manager pilet-keys delete')
          await audit.append(tx, actor, event('delete', { before: getAuditedFields(key), after: null }))
        })
      } catch (error) {
        throw createUsedKeyErrorReader(keyId)(error) ?? error
      }
    },

    /** Returns the key, or throws an error that explains how to list keys. */
    find: (keyId: string): Promise<Key> => findKey(db.read, keyId),

    list: () => store.listKeys(db.read),

    countUnsigned: () => store.countUnsigned(db.read),

    /**
     * Returns the public keys in base64, keyed by key id, as pages embed them. Each key is checked against
     * its sealed private key, so that write access to the table is not enough to add an untrusted key.
     */
    publicKeys: async (): Promise<Record<string, string>> => {
      const keys = await store.findKeys(db.read)
      for (const key of keys) openKey(key)
      return Object.fromEntries(keys.map(({ keyId, publicKey }) => [keyId, publicKey.toString('base64')]))
    },
  }
}

async function signPackage(
  bytes: Buffer,
  statement: PackageStatement,
  { keyId, privateKey }: { keyId: string; privateKey: KeyObject },
): Promise<Signature> {
  if (isStatement(bytes))
    throw badRequest(
      'the file looks like a signed statement about a pilet; send the bundle in the field file',
    )
  return {
    signature: await signInThread(null, bytes, privateKey),
    keyId,
    statementSignature: sign(null, Buffer.from(formatStatement(statement)), privateKey),
    statementKeyId: keyId,
  }
}

async function findKey(db: Reads, keyId: string): Promise<Key> {
  const key = await store.findKeyById(db, keyId)
  if (key === undefined)
    throw badRequest(`signing key ${keyId} does not exist; run \`manager pilet-keys list\` to list the keys`)
  return key
}

const createUsedKeyErrorReader = (keyId: string) =>
  createDbErrorMapper({
    pilet_packages_key_id_fkey: [
      'conflict',
      `pilets are signed with the key ${keyId}; run \`manager pilet-keys sign --replacing ${keyId}\` to sign them with the active key`,
    ],
  })

function generateKey(secrets: Secrets): Omit<Key, 'isActive'> {
  const { privateKey } = generateKeyPairSync('ed25519')
  const publicKey = exportPublicKey(privateKey)
  const id = newId()
  const der = privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64')
  const sealedKey = secrets.seal(der, { ...store.privateKeyLocation, id })
  return { id, keyId: createVerifyingKey(publicKey).keyId, publicKey, privateKey: sealedKey }
}

const exportPublicKey = (privateKey: KeyObject): Buffer =>
  createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(-32)

/** Decrypts private keys and caches them, because the ring has few keys. Throws if the row does not match the key. */
function createKeyOpener(secrets: Secrets) {
  const openedKeys = new Map<string, { privateKey: KeyObject; publicKey: Buffer }>()
  const decryptKey = ({ id, keyId, privateKey: sealedKey }: Key) => {
    try {
      const der = Buffer.from(secrets.open(sealedKey, { ...store.privateKeyLocation, id }), 'base64')
      const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
      return { privateKey, publicKey: exportPublicKey(privateKey) }
    } catch (cause) {
      throw new Error(
        `the signing key ${keyId} cannot be decrypted: it was changed, or its encryption key is missing; run \`manager keys status\``,
        { cause },
      )
    }
  }
  return (row: Key): KeyObject => {
    const key = openedKeys.get(row.keyId) ?? decryptKey(row)
    if (!key.publicKey.equals(row.publicKey) || createVerifyingKey(key.publicKey).keyId !== row.keyId)
      throw new Error(
        `the signing key ${row.keyId} was changed: its public key does not match its private key; restore the row from a backup`,
      )
    openedKeys.set(row.keyId, key)
    return key.privateKey
  }
}
