// Creates, changes, deactivates and deletes people on behalf of an identity provider. Bodies are parsed before a row is
// locked. Every change and its audit rows are one transaction, in the chain of the system.
import type { AuditEvent } from '../../platform/audit/append.ts'
import { createEventBuilder } from '../../platform/audit/entity.ts'
import { notFound } from '../../platform/errors.ts'
import { parseUuid } from '../../platform/ids.ts'
import type { Db, Tx } from '../../platform/postgres/handles.ts'
import type { GroupsApi } from '../groups/index.ts'
import type { UsersApi } from '../users/index.ts'
import {
  type AppendScimEvents,
  type ScimCaller,
  type ScimTarget,
  isCurrent,
  recheckToken,
} from './scim-changes.service.ts'
import { isWrongVersion, notUnique, scimBadRequest, wrongVersion } from './scim-errors.pure.ts'
import { applyPatch, parsePatch } from './scim-patch.pure.ts'
import type { ScimResource } from './scim-resource.pure.ts'
import {
  type ScimUser,
  type SubjectAttribute,
  assertSameSubject,
  describeChange,
  isSameUser,
  readSubject,
  readUser,
} from './scim-user.pure.ts'
import * as store from './scim-users.store.ts'

export type ScimUsersDeps = {
  db: Db
  users: Pick<UsersApi, 'provisioned'>
  groups: { provisioned: Pick<GroupsApi['provisioned'], 'removePerson'> }
  append: AppendScimEvents
  subjectAttribute: SubjectAttribute
}
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
  const { db, users, append, subjectAttribute } = deps
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
      return { after: await write(deps, { tx, caller, ...locked, values }), wasRejected: false }
    })
    // The transaction has committed the audit row of a rejected deactivation.
    if (wasRejected) throw wrongVersion('user')
    return after
  }

  return {
    create: (caller: ScimCaller, body: unknown): Promise<ScimResource> => createUser(deps, caller, body),

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
      try {
        await db.transaction((tx) => deleteUser(deps, { tx, caller, target }))
      } catch (error) {
        if (!isWrongVersion(error)) throw error
        // The rollback has restored the groups of the person.
        await db.transaction(async (tx) => {
          const locked = await lock(tx, caller, target.id)
          await append(tx, caller, listRejections(users.provisioned, locked, false))
        })
        throw error
      }
    },
  }
}

/** Deletes the SCIM user, who leaves all groups. Throws 412 if the request names another version. */
async function deleteUser(
  { users, groups, append }: ScimUsersDeps,
  { tx, caller, target }: { tx: Tx; caller: ScimCaller; target: ScimTarget },
): Promise<void> {
  // A change of a group locks the group before its people, so the groups come first here, too.
  const departures = await groups.provisioned.removePerson(tx, target.id)
  const { person, before } = await createLock(users.provisioned)(tx, caller, target.id)
  if (!isCurrent(target, before)) throw wrongVersion('user')
  const { user, event: deactivation } = await users.provisioned.setActive(tx, person, false)
  await store.deleteUser(tx, before.id)
  await users.provisioned.release(tx, user.id)
  await append(tx, caller, [...departures, deactivation, event('delete', { before, after: null })])
}

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

/** A deactivated administrator may still know the secret of a token, and must not lift the deactivation with it. */
function assertNotOwnReactivation(person: Person, creatorId: string, isActive: boolean): void {
  if (isActive && person.deactivatedByScimAt !== null && person.id === creatorId)
    throw scimBadRequest(
      'mutability',
      'this person created the SCIM token, so the token cannot reactivate them; use a token of another administrator',
    )
}

/** Creates the SCIM user, and the person unless the person has signed in before. */
function createUser(
  { db, users, append, subjectAttribute }: ScimUsersDeps,
  caller: ScimCaller,
  body: unknown,
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
    const person = await users.provisioned.save(tx, { id, ...describeChange(null, user) })
    const after = await store.insertUser(tx, id, user)
    const { event: activation } = await users.provisioned.setActive(tx, person, user.active)
    await append(tx, caller, [event('create', { before: null, after }), activation])
    return after
  })
}

type Write = Locked & { tx: Tx; caller: ScimCaller; values: ScimUser }

/** Writes the new values and their audit rows; without a difference, nothing changes. */
async function write(
  { users, append }: ScimUsersDeps,
  { tx, caller, person, creatorId, before, values }: Write,
): Promise<ScimResource> {
  if (isSameUser(before, values)) return before
  assertNotOwnReactivation(person, creatorId, values.active)
  const after = await store.updateUser(tx, before.id, values)
  const saved = await users.provisioned.save(tx, { id: before.id, ...describeChange(before, values) })
  const { event: activation } = await users.provisioned.setActive(tx, saved, values.active)
  // The other row records the change of `active`.
  const hasOtherChanges = !isSameUser(before, { ...values, active: before.active })
  const update = event('update', { before, after: { ...after, active: before.active } })
  await append(tx, caller, [hasOtherChanges ? update : null, activation])
  return after
}
