// Creates, changes, deactivates and deletes people on behalf of an identity provider. Bodies are parsed before a row is
// locked. Every change and its audit rows are one transaction, in the chain of the system.
import type { Audit, AuditActor, AuditEvent } from '../../platform/audit/append.ts'
import { createEventBuilder } from '../../platform/audit/entity.ts'
import { notFound } from '../../platform/errors.ts'
import { parseUuid } from '../../platform/ids.ts'
import type { Db, Tx } from '../../platform/postgres/handles.ts'
import type { UsersApi } from '../users/index.ts'
import { invalidToken, notUnique, scimBadRequest, wrongVersion } from './scim-errors.pure.ts'
import { applyPatch, parsePatch } from './scim-patch.pure.ts'
import { type ScimResource, matchesVersion } from './scim-resource.pure.ts'
import {
  type ScimUser,
  type SubjectAttribute,
  assertSameSubject,
  describePerson,
  isSameUser,
  readSubject,
  readUser,
} from './scim-user.pure.ts'
import { lockUsableToken } from './scim-tokens.store.ts'
import type { ScimMetrics } from './scim.metrics.ts'
import * as store from './scim-users.store.ts'

export type ScimUsersDeps = {
  db: Db
  audit: Audit
  users: Pick<UsersApi, 'provisioned'>
  metrics: ScimMetrics
  subjectAttribute: SubjectAttribute
}
/** The token of the request, and the client that presented it. */
export type ScimCaller = Omit<AuditActor, 'principal'> & { tokenId: string; tokenName: string }
/** The user to change, and the If-Match header; null if the request has none. */
export type ScimTarget = { id: string; ifMatch: string | null }
export type ScimUsersService = ReturnType<typeof createScimUsersService>

type Person = NonNullable<Awaited<ReturnType<UsersApi['provisioned']['lock']>>>
type Locked = { person: Person; before: ScimResource; creatorId: string }

const event = createEventBuilder<ScimResource>({
  type: 'provisionedUser',
  classes: {
    id: 'public',
    userName: 'public',
    externalId: 'public',
    displayName: 'public',
    formatted: 'public',
    givenName: 'public',
    familyName: 'public',
    emails: 'sensitive',
    active: 'public',
    createdAt: 'ignored',
  },
  nameOf: (user) => user.userName,
  projectOf: () => null,
})

export function createScimUsersService(deps: ScimUsersDeps) {
  const { db, users, subjectAttribute } = deps
  const append = createAppend(deps)
  const lock = createLock(users.provisioned)

  /** Changes a locked user. `compute` returns the new values; it may run again if the transaction is repeated. */
  const change = async (
    caller: ScimCaller,
    target: ScimTarget,
    compute: (before: ScimUser) => ScimUser,
  ): Promise<ScimResource> => {
    const { after, wasRejected } = await db.transaction(async (tx) => {
      const locked = await lock(tx, caller, target.id)
      const values = compute(locked.before)
      assertSameSubject(values, subjectAttribute, locked.before.id)
      if (!isCurrent(target, locked.before)) {
        await append(tx, caller, listRejections(users.provisioned, locked, values.active))
        return { after: locked.before, wasRejected: true }
      }
      return { after: await write(deps, append, { tx, caller, ...locked, values }), wasRejected: false }
    })
    // The transaction has committed the audit row of a rejected deactivation.
    if (wasRejected) throw wrongVersion()
    return after
  }

  return {
    create: (caller: ScimCaller, body: unknown): Promise<ScimResource> =>
      createUser(deps, append, { caller, body }),

    replace: (caller: ScimCaller, target: ScimTarget, body: unknown): Promise<ScimResource> => {
      // A malformed body fails before the row is locked.
      readUser(body, null)
      return change(caller, target, (before) => readUser(body, before))
    },

    patch: (caller: ScimCaller, target: ScimTarget, body: unknown): Promise<ScimResource> => {
      const edits = parsePatch(body)
      return change(caller, target, (before) => applyPatch(before, edits))
    },

    /** Deletes the SCIM user. The person stays, deactivated, so that the audit trail and the roles keep their meaning. */
    delete: async (caller: ScimCaller, target: ScimTarget): Promise<void> => {
      const wasRejected = await db.transaction(async (tx) => {
        const locked = await lock(tx, caller, target.id)
        const { person, before } = locked
        if (!isCurrent(target, before)) {
          await append(tx, caller, listRejections(users.provisioned, locked, false))
          return true
        }
        const { user, event: deactivation } = await users.provisioned.setActive(tx, person, false)
        await store.deleteUser(tx, before.id)
        await users.provisioned.release(tx, user.id)
        await append(tx, caller, [deactivation, event('delete', { before, after: null })])
        return false
      })
      if (wasRejected) throw wrongVersion()
    },
  }
}

const isCurrent = ({ ifMatch }: ScimTarget, { revision }: ScimResource): boolean =>
  ifMatch === null || matchesVersion(ifMatch, revision)

/** A rejected deactivation leaves a person active whose access should have ended, so the trail records it. */
const listRejections = (
  provisioned: UsersApi['provisioned'],
  { person, before }: Locked,
  isActive: boolean,
): AuditEvent[] => (before.active && !isActive ? [provisioned.createRejection(person)] : [])

/** Returns a function that locks a person and the SCIM user, always in this order. */
const createLock =
  (provisioned: UsersApi['provisioned']) =>
  async (tx: Tx, caller: ScimCaller, id: string): Promise<Locked> => {
    const userId = parseUuid(id)
    const person = userId === null ? null : await provisioned.lock(tx, userId)
    const creatorId = await recheckToken(tx, caller)
    const before = person === null ? null : await store.lockUser(tx, person.id)
    if (person === null || before === null) throw notFound('user')
    return { person, before, creatorId }
  }

/** Throws 401 if the token was revoked or has expired since the start of the request. Returns its creator. */
async function recheckToken(tx: Tx, { tokenId }: ScimCaller): Promise<string> {
  const token = await lockUsableToken(tx, tokenId)
  if (token === null) throw invalidToken()
  return token.creatorId
}

/** A deactivated administrator may still know the secret of a token, and must not lift the deactivation with it. */
function assertNotOwnReactivation(person: Person, creatorId: string, isActive: boolean): void {
  if (isActive && person.deactivatedByScimAt !== null && person.id === creatorId)
    throw scimBadRequest(
      'mutability',
      'this person created the SCIM token, so the token cannot reactivate them; use a token of another administrator',
    )
}

type Append = (tx: Tx, caller: ScimCaller, events: readonly (AuditEvent | null)[]) => Promise<void>

/** Returns a function that appends the audit rows of a change and counts the change. */
function createAppend({ audit, metrics }: ScimUsersDeps): Append {
  return async (tx, { tokenId, tokenName, ...client }, events) => {
    const rows = events.filter((one) => one !== null)
    const metadata = { scimToken: tokenName }
    await audit.append(
      tx,
      { ...client, principal: { type: 'system', id: `scim token ${tokenId}` } },
      ...rows.map((row) => ({ ...row, metadata })),
    )
    for (const { action } of rows)
      if (action in kinds) metrics.changes.inc({ kind: action as keyof typeof kinds })
  }
}

const kinds = { create: true, update: true, deactivate: true, reactivate: true, delete: true } as const

/** Creates the SCIM user, and the person unless the person has signed in before. */
function createUser(
  { db, users, subjectAttribute }: ScimUsersDeps,
  append: Append,
  { caller, body }: { caller: ScimCaller; body: unknown },
): Promise<ScimResource> {
  const user = readUser(body, null)
  const id = readSubject(user, subjectAttribute)
  return db.transaction(async (tx) => {
    // A person who has signed in before has a row already, which becomes a provisioned one.
    const existing = await users.provisioned.lock(tx, id)
    const creatorId = await recheckToken(tx, caller)
    if (existing !== null) assertNotOwnReactivation(existing, creatorId, user.active)
    if ((await store.lockUser(tx, id)) !== null)
      throw notUnique(`a user with the ${subjectAttribute} ${id} exists; change it with PUT or PATCH`)
    const person = await users.provisioned.save(tx, { id, ...describePerson(user) })
    const after = await store.insertUser(tx, id, user)
    const { event: activation } = await users.provisioned.setActive(tx, person, user.active)
    await append(tx, caller, [event('create', { before: null, after }), activation])
    return after
  })
}

type Write = Locked & { tx: Tx; caller: ScimCaller; values: ScimUser }

/** Writes the new values and their audit rows; without a difference, nothing changes. */
async function write(
  { users }: ScimUsersDeps,
  append: Append,
  { tx, caller, person, creatorId, before, values }: Write,
): Promise<ScimResource> {
  if (isSameUser(before, values)) return before
  assertNotOwnReactivation(person, creatorId, values.active)
  const after = await store.updateUser(tx, before.id, values)
  const saved = await users.provisioned.save(tx, { id: before.id, ...describePerson(values) })
  const { event: activation } = await users.provisioned.setActive(tx, saved, values.active)
  // The other row records the change of `active`.
  const hasOtherChanges = !isSameUser(before, { ...values, active: before.active })
  const update = event('update', { before, after: { ...after, active: before.active } })
  await append(tx, caller, [hasOtherChanges ? update : null, activation])
  return after
}
