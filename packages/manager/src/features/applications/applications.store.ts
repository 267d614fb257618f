import { sql } from 'kysely'
import type { VisibleRows } from '../../policy/visible-rows.ts'
import { type Reads, type Tx, anyOf, withPreparedStatements } from '../../platform/postgres/handles.ts'
import type { ListFields, Page } from '../../platform/lists/filters.ts'
import { fetchPages } from '../../platform/lists/page.ts'
import { getPageHandle } from '../../platform/lists/prepared-pages.ts'
import { type RevisionFields, revisionColumns } from '../../platform/postgres/revised.ts'

export type Application = RevisionFields & {
  id: string
  projectId: string
  name: string
  slug: string
  description: string
  createdAt: string
}
export type ApplicationValues = { name: string; slug: string; description: string }

const columns = ['id', 'projectId', 'name', 'slug', 'description', 'createdAt', ...revisionColumns] as const

export const applicationFields: ListFields = {
  id: { column: 'id', match: 'id' },
  name: { column: 'name', match: 'text' },
  slug: { column: 'slug', match: 'exact' },
  description: { column: 'description', match: 'text' },
  createdAt: { column: 'createdAt', match: 'time' },
}

/** Returns a page of applications for each project, restricted to the rows that the caller may see. */
export function listApplications(
  db: Reads,
  projectIds: readonly string[],
  visible: VisibleRows,
  page: Page,
): Promise<Application[]> {
  const where =
    visible === 'all'
      ? undefined
      : sql<boolean>`(applications.project_id = any(${visible.projectIds}::uuid[])
          or applications.id = any(${visible.ids}::uuid[]))`
  return fetchPages(getPageHandle(db, page, ['id', 'name']), {
    table: 'applications',
    columns,
    page,
    where,
    parent: 'projectId',
    parentIds: projectIds,
  })
}

/** Returns the applications with these ids, in any order. */
export function findApplications(db: Reads, ids: readonly string[]): Promise<Application[]> {
  return withPreparedStatements(db)
    .selectFrom('applications')
    .select(columns)
    .where('id', '=', anyOf(ids))
    .execute()
}

/** Returns the application with this slug in the project, or undefined. */
export function findApplicationBySlug(
  db: Reads,
  projectId: string,
  slug: string,
): Promise<Application | undefined> {
  return withPreparedStatements(db)
    .selectFrom('applications')
    .select(columns)
    .where('projectId', '=', projectId)
    .where('slug', '=', slug)
    .executeTakeFirst()
}

/** Returns one application and locks it until the transaction ends. */
export function lockApplication(tx: Tx, id: string): Promise<Application | undefined> {
  return tx.selectFrom('applications').select(columns).where('id', '=', id).forUpdate().executeTakeFirst()
}

export function insertApplication(
  tx: Tx,
  values: ApplicationValues & { id: string; projectId: string },
): Promise<Application> {
  return tx.insertInto('applications').values(values).returning(columns).executeTakeFirstOrThrow()
}

export function updateApplication(tx: Tx, id: string, values: ApplicationValues): Promise<Application> {
  return tx
    .updateTable('applications')
    .set({ ...values, updatedAt: sql`now()` })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()
}

const chunkSize = 5_000

/**
 * Deletes the application with its memberships and tenant rows. Tenant rows are deleted first, in chunks, so
 * that no statement exceeds its timeout.
 */
export async function deleteApplication(tx: Tx, id: string): Promise<void> {
  for (;;) {
    const chunk = tx.selectFrom('tenant2applications').select('id').where('applicationId', '=', id)
    const { numDeletedRows } = await tx
      .deleteFrom('tenant2applications')
      .where('id', 'in', chunk.limit(chunkSize))
      .executeTakeFirstOrThrow()
    if (numDeletedRows < chunkSize) break
  }
  await tx.deleteFrom('applications').where('id', '=', id).execute()
}
