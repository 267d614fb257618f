// Creates and rotates the credentials of machine users. A credential is returned once and is stored only as a
// hash.
import { randomBytes } from 'node:crypto'
import type { Actor } from '../../policy/actor.ts'
import { type ExpectedRevision, checkRevision } from '../../policy/revisions.ts'
import { recheckPermission } from '../../policy/recheck.ts'
import type { Audit } from '../../platform/audit/append.ts'
import type { Clock } from '../../platform/clock.ts'
import { fitsBasicHeader } from '../../platform/credentials/authorization.ts'
import type { Kdf } from '../../platform/credentials/kdf.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import { badRequest, orNotFound } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { checkInput } from '../../platform/inputs/fields.ts'
import { checkName, checkText } from '../../platform/inputs/inputs.ts'
import { buildMachineToken, tokenBytes } from './machine-token.pure.ts'
import { machineUserEvent as event } from './machine-users.service.ts'
import * as store from './machine-users.store.ts'

export type MachineCredentialsDeps = { db: Db; audit: Audit; clock: Clock; kdf: Kdf }
export type MachineCredentialsService = ReturnType<typeof createMachineCredentialsService>

type CreateInput = { name: string; username?: string | null; hashedKey: string; enabled?: boolean | null }

const generateToken = '__GENERATE_TOKEN__'
const maxPasswordLength = 1_000

/** Creates and rotates credentials. Hashing is slow, so it runs before the transaction. */
export function createMachineCredentialsService({ db, audit, clock, kdf }: MachineCredentialsDeps) {
  const hashCredential = async (
    { user }: Actor,
    username: string,
    password: string,
  ): Promise<store.StoredCredential> => ({ username, passwordHash: await kdf.hash(password, user.id) })
  return {
    /**
     * Returns `generatedToken` for a Bearer machine user and `plaintextPassword` for a Basic machine user.
     * The other field is null.
     */
    create: async (actor: Actor, environmentId: string, input: CreateInput) => {
      const isBearer = input.hashedKey === generateToken
      const { name, username, hashedKey } = checkInput({
        name: () => checkName(input.name),
        username: () => (isBearer ? '' : checkUsername(input.username ?? '')),
        hashedKey: () => (isBearer ? generateToken : checkPassword(input.hashedKey)),
      })
      const values = { id: newId(), environmentId, name, enabled: input.enabled ?? true }
      const { token, stored } = isBearer
        ? createBearerCredential()
        : { token: null, stored: await hashCredential(actor, username, hashedKey) }
      const machineUser = await db.transaction(async (tx) => {
        const projectId = orNotFound(await store.findProjectOfEnvironment(tx, environmentId), 'environment')
        await recheckPermission(tx, actor, 'MACHINE_USER_WRITE', projectId)
        const insertedRow = await store.insertMachineUser(tx, { ...values, ...stored })
        const after = orNotFound(insertedRow, 'environment')
        await audit.append(tx, actor, event('create', { before: null, after }))
        return after
      })
      return { generatedToken: token, plaintextPassword: isBearer ? null : hashedKey, machineUser }
    },

    /**
     * Rotates a credential. Concurrent rotations each return their own credential, but only the credential
     * that was written last is valid.
     */
    rotate: async (actor: Actor, id: string, expectedRevision: ExpectedRevision) => {
      // The kind of a machine user never changes, and neither does the user name of a Basic machine user.
      const { username, tokenPrefix } = orNotFound(await store.findMachineUser(db.read, id), 'machine user')
      const { token, stored } = createBearerCredential()
      const credential = tokenPrefix === null ? await hashCredential(actor, username, token) : stored
      const machineUser = await db.transaction(async (tx) => {
        const before = orNotFound(await store.lockMachineUser(tx, id), 'machine user')
        await recheckPermission(tx, actor, 'MACHINE_USER_WRITE', before.projectId)
        await checkRevision(tx, actor, before, expectedRevision)
        const after = await store.replaceCredential(tx, id, credential, clock.now().toISOString())
        const rotateEvent = { ...event('rotate', { before, after }), metadata: { key_rotated: true } }
        await audit.append(tx, actor, rotateEvent)
        return after
      })
      return { generatedToken: token, machineUser }
    },
  }
}

/** Returns a random token and the values to store for it. */
function createBearerCredential(): { token: string; stored: store.StoredCredential } {
  const { token, tokenPrefix, tokenHash } = buildMachineToken(randomBytes(tokenBytes))
  return { token, stored: { username: `Bearer:${tokenPrefix}`, tokenPrefix, tokenHash } }
}

/** Checks the user name. Colons are rejected: in RFC 7617, a colon ends the user name. */
function checkUsername(username: string): string {
  rejectControlCharacters(username, 'username')
  if (username.includes(':')) throw badRequest('username must not contain a colon')
  if (username.trim() !== username) throw badRequest('username must not start or end with a space')
  return checkName(username, 'username')
}

function checkPassword(password: string): string {
  if (password === '')
    throw badRequest(`hashedKey must be ${generateToken} for a Bearer token, or a password for Basic`)
  rejectControlCharacters(password, 'hashedKey')
  return checkText(password, 'hashedKey', maxPasswordLength)
}

/** Rejects values that cannot be sent in a Basic header, because such a machine user could never log in. */
function rejectControlCharacters(text: string, field: string): void {
  if (!fitsBasicHeader(text)) throw badRequest(`${field} must not contain control characters`)
}
