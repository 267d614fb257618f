// Creates, changes and deletes groups on behalf of an identity provider. Bodies are parsed before a group is locked. Every
// change, the roles that follow from it, and the audit rows are one transaction. features/groups stores groups and roles.
import { AppError, notFound } from '../../platform/errors.ts'
import { parseUuid } from '../../platform/ids.ts'
import type { Db, Tx } from '../../platform/postgres/handles.ts'
import type { GroupsApi } from '../groups/index.ts'
import {
  type AppendScimEvents,
  type ScimCaller,
  type ScimTarget,
  isCurrent,
  recheckToken,
} from './scim-changes.service.ts'
import { scimBadRequest, wrongVersion } from './scim-errors.pure.ts'
import { type MemberEdits, parseGroupPatch } from './scim-group-patch.pure.ts'
import type { ScimGroup } from './scim-group-resource.pure.ts'
import { type GroupValues, readGroup } from './scim-group.pure.ts'
import { findUnknownUser } from './scim-groups.store.ts'

export type ScimGroupsDeps = { db: Db; groups: Pick<GroupsApi, 'provisioned'>; append: AppendScimEvents }
export type ScimGroupsService = ReturnType<typeof createScimGroupsService>

type Change = { values: GroupValues; edits: MemberEdits }

export function createScimGroupsService({ db, groups: { provisioned }, append }: ScimGroupsDeps) {
  /** Locks the group and everything that its roles depend on, and then the token. */
  const lock = async (tx: Tx, caller: ScimCaller, target: ScimTarget): Promise<ScimGroup> => {
    const id = parseUuid(target.id)
    const before = id === null ? null : await provisioned.lock(tx, id)
    await recheckToken(tx, caller)
    if (before === null) throw notFound('group')
    if (!isCurrent(target, before)) throw wrongVersion('group')
    return before
  }

  /** Changes a locked group. `compute` returns the change; it may run again if the transaction is repeated. */
  const change = (
    caller: ScimCaller,
    target: ScimTarget,
    compute: (before: ScimGroup) => Change,
  ): Promise<ScimGroup> =>
    db.transaction(async (tx) => {
      const before = await lock(tx, caller, target)
      const { values, edits } = compute(before)
      await assertKnownUsers(tx, edits.added)
      const { group, events } = await asScimErrors(() => provisioned.change(tx, before, values, edits))
      await append(tx, caller, events)
      return group
    })

  return {
    create: (caller: ScimCaller, body: unknown): Promise<ScimGroup> => {
      const { values, memberIds } = readGroup(body)
      return db.transaction(async (tx) => {
        await recheckToken(tx, caller)
        await assertKnownUsers(tx, memberIds)
        const { group, events } = await asScimErrors(() =>
          provisioned.create(tx, { externalId: null, ...values }, memberIds),
        )
        await append(tx, caller, events)
        return group
      })
    },

    /**
     * Replaces the values and the members: a PUT without members leaves the group empty (RFC 7644, section 3.5.1). An absent
     * `externalId` stays, because clients do not always repeat it.
     */
    replace: (caller: ScimCaller, target: ScimTarget, body: unknown): Promise<ScimGroup> => {
      const { values, memberIds } = readGroup(body)
      const edits = { isReplaced: true, added: memberIds, removed: [] }
      return change(caller, target, ({ externalId }) => ({ values: { externalId, ...values }, edits }))
    },

    patch: (caller: ScimCaller, target: ScimTarget, body: unknown): Promise<ScimGroup> => {
      const { edits, ...values } = parseGroupPatch(body)
      return change(caller, target, ({ displayName, externalId }) => ({
        values: { displayName, externalId, ...values },
        edits,
      }))
    },

    /** Deletes the group, its rules, and the roles that they gave. The people stay. */
    delete: (caller: ScimCaller, target: ScimTarget): Promise<void> =>
      db.transaction(async (tx) => {
        const { events } = await provisioned.remove(tx, await lock(tx, caller, target))
        await append(tx, caller, events)
      }),
  }
}

async function assertKnownUsers(tx: Tx, userIds: readonly string[]): Promise<void> {
  const unknownId = userIds.length === 0 ? null : await findUnknownUser(tx, userIds)
  if (unknownId !== null)
    throw scimBadRequest(
      'invalidValue',
      `the member ${unknownId} is not a SCIM user; create the user first, and use its id as the value of the member`,
    )
}

/** The rules of a group reject values without a keyword of SCIM. */
async function asScimErrors<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof AppError && error.code === 'bad_request')
      throw scimBadRequest('invalidValue', error.message)
    throw error
  }
}
