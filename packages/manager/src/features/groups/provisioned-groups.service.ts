// Creates and changes groups on behalf of an identity provider, in the transaction of the caller. Members get and lose the
// roles of the group's rules in the same transaction, so a removal applies to every request that starts after its response.
import type { AuditEvent } from '../../platform/audit/append.ts'
import { createEventBuilder, maxListedIds } from '../../platform/audit/entity.ts'
import { AppError } from '../../platform/errors.ts'
import { newId, parseUuid } from '../../platform/ids.ts'
import type { Tx } from '../../platform/postgres/handles.ts'
import { splitList } from '../../platform/postgres/split-list.ts'
import type { MembershipsApi } from '../memberships/index.ts'
import { groupRuleEvent } from './group-rules.service.ts'
import * as rules from './group-rules.store.ts'
import * as store from './groups.store.ts'
import { assertRolesWithinLimit, getRuleObject } from './rule-objects.pure.ts'

export type ProvisionedGroupsService = ReturnType<typeof createProvisionedGroupsService>
export type StoredGroup = store.ProvisionedGroup

/** A change of the members. With `isReplaced`, `added` are all members and `removed` is empty. */
export type MemberEdits = { isReplaced: boolean; added: readonly string[]; removed: readonly string[] }

type Changed = { group: StoredGroup; events: AuditEvent[] }
type MemberChanges = { joined: readonly string[]; left: readonly string[] }

const maxMembers = 50_000
// Each statement must finish within the statement timeout, whatever the size of the group.
const maxPeoplePerStatement = 2_000

const event = createEventBuilder<StoredGroup>({
  type: 'provisionedGroup',
  classes: {
    id: 'public',
    displayName: 'public',
    externalId: 'public',
    memberCount: 'public',
    createdAt: 'ignored',
  },
  nameOf: ({ displayName }) => displayName,
  projectOf: () => null,
})

/** Returns the events of a change. Each lists a limited number of people who joined or left, so a change can have several. */
function describeChange(
  action: 'create' | 'update',
  rows: { before: StoredGroup | null; after: StoredGroup },
  { joined, left }: MemberChanges,
): AuditEvent[] {
  const parts = [
    ...splitList(joined, maxListedIds).map((joinedIds) => ({ joined: joinedIds.length, joinedIds })),
    ...splitList(left, maxListedIds).map((leftIds) => ({ left: leftIds.length, leftIds })),
  ]
  const [first = {}, ...others] = parts
  const { after } = rows
  return [
    { ...event(action, rows), metadata: first },
    ...others.map((metadata) => ({ ...event('update', { before: after, after }), metadata })),
  ]
}

export function createProvisionedGroupsService({ groupRoles }: Pick<MembershipsApi, 'groupRoles'>) {
  const lock = async (tx: Tx, id: string): Promise<StoredGroup | null> => {
    const groupId = parseUuid(id)
    const group = groupId === null ? undefined : await store.lockGroup(tx, groupId)
    if (group === undefined) return null
    await groupRoles.lock(tx, (await rules.listRulesOfGroups(tx, [group.id])).map(getRuleObject))
    return group
  }

  return {
    /** Returns a group, or null. Locks the group, and then the members of every object in which its rules give roles. */
    lock,

    /** Inserts a group with members: different people who are provisioned. A new group has no rules. */
    create: async (tx: Tx, values: store.GroupValues, memberIds: readonly string[]): Promise<Changed> => {
      assertMemberCount(memberIds.length)
      const group = await store.insertGroup(tx, newId(), { ...values, memberCount: memberIds.length })
      const joined = await insertMembers(tx, group.id, memberIds)
      return { group, events: describeChange('create', { before: null, after: group }, { joined, left: [] }) }
    },

    /** Changes a locked group. Without a difference, nothing changes and there are no events. */
    change: async (
      tx: Tx,
      before: StoredGroup,
      values: store.GroupValues,
      edits: MemberEdits,
    ): Promise<Changed> => {
      const changes = await writeMembers(tx, before.id, edits)
      const { joined, left } = changes
      const isRenamed = values.displayName !== before.displayName || values.externalId !== before.externalId
      if (!isRenamed && joined.length + left.length === 0) return { group: before, events: [] }
      assertMemberCount(before.memberCount + joined.length - left.length)
      const group = await store.updateGroup(tx, before.id, {
        ...values,
        joined: joined.length,
        left: left.length,
      })
      const objects = (await rules.listRulesOfGroups(tx, [group.id])).map(getRuleObject)
      if (joined.length > 0) assertRolesWithinLimit(group.memberCount, objects.length)
      const updates = describeChange('update', { before, after: group }, changes)
      return { group, events: [...updates, ...(await groupRoles.apply(tx, [...joined, ...left], objects))] }
    },

    /** Deletes a locked group, its rules, and the roles that they gave. */
    remove: async (tx: Tx, before: StoredGroup): Promise<{ events: AuditEvent[] }> => {
      const ownRules = await rules.listRulesOfGroups(tx, [before.id])
      const userIds = await store.listMemberIds(tx, before.id)
      const objects = ownRules.map(getRuleObject)
      const excludedIds = ownRules.map(({ id }) => id)
      const roleEvents = await groupRoles.apply(tx, userIds, objects, excludedIds)
      await store.deleteGroup(tx, before.id)
      const ruleEvents = ownRules.map((rule) => groupRuleEvent('delete', { before: rule, after: null }))
      return { events: [...roleEvents, ...ruleEvents, event('delete', { before, after: null })] }
    },

    /** Removes a person from all groups. */
    removePerson: createRemovePerson(groupRoles),
  }
}

type GroupRoles = MembershipsApi['groupRoles']

/** Returns a function that locks all groups of a person at once, and takes the person out of them. */
const createRemovePerson =
  (groupRoles: GroupRoles) =>
  async (tx: Tx, givenId: string): Promise<AuditEvent[]> => {
    const userId = parseUuid(givenId)
    const groups = userId === null ? [] : await store.lockGroups(tx, await store.listGroupIds(tx, userId))
    if (userId === null || groups.length === 0) return []
    const groupIds = groups.map(({ id }) => id)
    const objects = (await rules.listRulesOfGroups(tx, groupIds)).map(getRuleObject)
    await groupRoles.lock(tx, objects)
    await store.deleteMemberships(tx, userId)
    const events: AuditEvent[] = []
    for (const before of groups) {
      const after = await store.updateGroup(tx, before.id, { ...pickValues(before), joined: 0, left: 1 })
      events.push(...describeChange('update', { before, after }, { joined: [], left: [userId] }))
    }
    return [...events, ...(await groupRoles.apply(tx, [userId], objects))]
  }

const pickValues = ({ displayName, externalId }: StoredGroup): store.GroupValues => ({
  displayName,
  externalId,
})

/** Writes the members. Returns those who joined and left. */
async function writeMembers(
  tx: Tx,
  groupId: string,
  { isReplaced, added, removed }: MemberEdits,
): Promise<MemberChanges> {
  const wanted = new Set(added)
  const leaving = isReplaced
    ? (await store.listMemberIds(tx, groupId)).filter((id) => !wanted.has(id))
    : removed
  const left: string[] = []
  for (const part of splitList(leaving, maxPeoplePerStatement))
    left.push(...(await store.deleteMembers(tx, groupId, part)))
  return { joined: await insertMembers(tx, groupId, added), left }
}

/** Adds people. Returns those who were not members. */
async function insertMembers(tx: Tx, groupId: string, userIds: readonly string[]): Promise<string[]> {
  const joined: string[] = []
  for (const part of splitList(userIds, maxPeoplePerStatement))
    joined.push(...(await store.insertMembers(tx, groupId, part)))
  return joined
}

function assertMemberCount(count: number): void {
  if (count > maxMembers)
    throw new AppError('bad_request', `a group can have at most ${maxMembers} members; split the group`)
}
