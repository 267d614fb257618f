// Reads the groups of identity providers and their members for administrators.
import { orNotFound } from '../../platform/errors.ts'
import { parseUuid } from '../../platform/ids.ts'
import { type ListArgs, readPage } from '../../platform/lists/filters.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import * as store from './groups.store.ts'

export type GroupsService = ReturnType<typeof createGroupsService>

export function createGroupsService({ db }: { db: Db }) {
  const get = async (id: string): Promise<store.ProvisionedGroup> => {
    const [group] = await store.findGroups(db.read, [orNotFound(parseUuid(id), 'group')])
    return orNotFound(group, 'group')
  }

  return {
    list: (args: ListArgs): Promise<store.ProvisionedGroup[]> =>
      store.listGroups(db.read, readPage(store.groupFields, args)),

    findMany: (ids: readonly string[]): Promise<store.ProvisionedGroup[]> => store.findGroups(db.read, ids),

    get,

    listMembers: async (group: string, args: ListArgs): Promise<store.GroupMember[]> => {
      const page = readPage(store.groupMemberFields, args)
      return store.listMembers(db.read, (await get(group)).id, page)
    },
  }
}
