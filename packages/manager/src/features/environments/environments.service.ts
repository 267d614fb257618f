import type { Db } from '../../platform/postgres/handles.ts'
import { orNotFound } from '../../platform/errors.ts'
import { type ListArgs, readPage } from '../../platform/lists/filters.ts'
import * as store from './environments.store.ts'

export type EnvironmentsService = ReturnType<typeof createEnvironmentsService>

/** Environments are created with their project and never change, so this service only reads them. */
export function createEnvironmentsService({ db }: { db: Db }) {
  return {
    createDefaults: store.insertDefaults,

    /**
     * Returns a page of environments for each project. They are in stage order unless the arguments specify
     * another order.
     */
    list: async (projectIds: readonly string[], args: ListArgs): Promise<store.Environment[]> => {
      const order =
        (args.order?.length ?? 0) > 0 ? args.order : [{ field: 'sortOrder', direction: 'ASC' as const }]
      return store.listEnvironments(
        db.read,
        projectIds,
        readPage(store.environmentFields, { ...args, order }),
      )
    },

    findMany: (ids: readonly string[]): Promise<store.Environment[]> => store.findEnvironments(db.read, ids),

    get: async (id: string): Promise<store.Environment> =>
      orNotFound((await store.findEnvironments(db.read, [id]))[0], 'environment'),
  }
}
