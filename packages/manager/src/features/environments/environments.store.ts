import { type Reads, type Tx, anyOf, withPreparedStatements } from '../../platform/postgres/handles.ts'
import { newId } from '../../platform/ids.ts'
import type { ListFields, Page } from '../../platform/lists/filters.ts'
import { fetchPages } from '../../platform/lists/page.ts'
import { getPageHandle } from '../../platform/lists/prepared-pages.ts'
import { type RevisionFields, revisionColumns } from '../../platform/postgres/revised.ts'

export type Environment = RevisionFields & {
  id: string
  projectId: string
  name: string
  displayName: string
  sortOrder: number
  protected: boolean
  createdAt: string
}

const columns = [
  'id',
  'projectId',
  'name',
  'displayName',
  'sortOrder',
  'protected',
  'createdAt',
  ...revisionColumns,
] as const

export const environmentFields: ListFields = {
  id: { column: 'id', match: 'id' },
  name: { column: 'name', match: 'exact' },
  displayName: { column: 'displayName', match: 'text' },
  sortOrder: { column: 'sortOrder', match: 'number' },
  protected: { column: 'protected', match: 'boolean' },
  createdAt: { column: 'createdAt', match: 'time' },
}

/** Returns a page of environments for each of the projects. */
export function listEnvironments(
  db: Reads,
  projectIds: readonly string[],
  page: Page,
): Promise<Environment[]> {
  return fetchPages(getPageHandle(db, page, ['id']), {
    table: 'environments',
    columns,
    page,
    parent: 'projectId',
    parentIds: projectIds,
  })
}

/** Returns the environments with these ids, in any order. */
export function findEnvironments(db: Reads, ids: readonly string[]): Promise<Environment[]> {
  return withPreparedStatements(db)
    .selectFrom('environments')
    .select(columns)
    .where('id', '=', anyOf(ids))
    .execute()
}

/** The three environments of every new project. */
export const defaultEnvironments = [
  { name: 'dev', displayName: 'Development', sortOrder: 10, protected: false },
  { name: 'qas', displayName: 'Quality assurance', sortOrder: 20, protected: false },
  { name: 'run', displayName: 'Production', sortOrder: 30, protected: true },
] as const

/** Adds the default environments to a project. */
export async function insertDefaults(tx: Tx, projectId: string): Promise<void> {
  await tx
    .insertInto('environments')
    .values(defaultEnvironments.map((environment) => ({ id: newId(), projectId, ...environment })))
    .execute()
}
