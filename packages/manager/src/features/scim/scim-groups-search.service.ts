// Reads groups for an identity provider: one, or a page of all or of those that a filter matches.
import { orNotFound } from '../../platform/errors.ts'
import { parseUuid } from '../../platform/ids.ts'
import { createGroupFields } from './scim-group-filter.store.ts'
import type { GroupWithMembers, ScimGroup } from './scim-group-resource.pure.ts'
import { maxMembers } from './scim-group.pure.ts'
import { findGroup, findMemberIds, groupSource } from './scim-groups.store.ts'
import { listRows, searchRows } from './scim-pages.store.ts'
import type { ListPage } from './scim-resource.pure.ts'
import { type ScimQuery, type ScimSearchDeps, createSearch } from './scim-search.service.ts'

export type ScimGroupsSearchService = ReturnType<typeof createScimGroupsSearchService>

export function createScimGroupsSearchService(deps: ScimSearchDeps) {
  const { db } = deps
  const search = createSearch<ScimGroup>(deps, {
    ...createGroupFields(deps.baseUrl),
    list: (reads, page) => listRows<ScimGroup>(reads, groupSource, page),
    search: (reads, condition, range) => searchRows<ScimGroup>(reads, groupSource, condition, range),
    noun: 'groups',
    hint: 'displayName, externalId or members.value',
  })
  /**
   * Adds the members, which are read after the groups. After a concurrent change, they are newer than the version of the
   * group, so a change that the client bases on this version is rejected.
   */
  const addMembers = async (
    groups: readonly ScimGroup[],
    hasMembers: boolean,
  ): Promise<GroupWithMembers[]> => {
    if (!hasMembers) return groups.map((group) => ({ group, memberIds: null }))
    const ids = groups.filter(({ memberCount }) => memberCount > 0).map(({ id }) => id)
    const memberIds = ids.length === 0 ? null : await findMemberIds(db.read, ids)
    return groups.map((group) => ({ group, memberIds: memberIds?.get(group.id) ?? [] }))
  }
  const getWithMembers = async (group: ScimGroup, hasMembers: boolean): Promise<GroupWithMembers> => {
    const [one] = await addMembers([group], hasMembers)
    return one as GroupWithMembers
  }
  return {
    /** Returns a group without its members. */
    get: async (id: string): Promise<ScimGroup> => {
      const groupId = parseUuid(id)
      return orNotFound(groupId === null ? null : await findGroup(db.read, groupId), 'group')
    },

    /** Adds all members to a group, if `hasMembers`. */
    getWithMembers,

    /**
     * Returns a page of groups. With members, a page has fewer groups than `count` if they have more than 50,000 members
     * together, but at least one: a response never has more members than the largest group. The client continues after the
     * last group that it received.
     */
    list: async (
      query: ScimQuery,
      hasMembers: boolean,
    ): Promise<ListPage & { total: number; groups: GroupWithMembers[] }> => {
      const { rows, ...page } = await search(query)
      const groups = hasMembers ? rows.slice(0, countGroupsWithin(rows, maxMembers)) : rows
      return { ...page, groups: await addMembers(groups, hasMembers) }
    },
  }
}

/** Returns the number of groups at the start of the list that have at most `maxCount` members together, at least 1. */
function countGroupsWithin(groups: readonly ScimGroup[], maxCount: number): number {
  let memberCount = 0
  const index = groups.findIndex((group) => (memberCount += group.memberCount) > maxCount)
  return index === -1 ? groups.length : Math.max(1, index)
}
