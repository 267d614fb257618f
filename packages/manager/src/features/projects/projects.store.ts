import { type FindTarget, type Target, toSlugKey } from '../../policy/scopes.ts'
import { type DeleteResult, sql } from 'kysely'
import { type Reads, type Tx, anyOf, withPreparedStatements } from '../../platform/postgres/handles.ts'
import type { Lookup } from '../../platform/postgres/lookups.ts'
import type { ListFields, Page } from '../../platform/lists/filters.ts'
import { fetchPage } from '../../platform/lists/page.ts'
import { getPageHandle } from '../../platform/lists/prepared-pages.ts'
import { type RevisionFields, revisionColumns } from '../../platform/postgres/revised.ts'

export type Project = RevisionFields & { id: string; name: string; slug: string; createdAt: string }

const columns = ['id', 'name', 'slug', 'createdAt', ...revisionColumns] as const

export const projectFields: ListFields = {
  id: { column: 'id', match: 'id' },
  name: { column: 'name', match: 'text' },
  slug: { column: 'slug', match: 'exact' },
  createdAt: { column: 'createdAt', match: 'time' },
}

/**
 * Returns a page of projects. With `memberId`, returns only projects in which that user has a membership of any kind.
 */
export function listProjects(db: Reads, page: Page, memberId: string | null): Promise<Project[]> {
  const where =
    memberId === null
      ? undefined
      : sql<boolean>`projects.id = any(array(
          select project_id from user2projects where user_id = ${memberId} union
          select project_id from user2tenants where user_id = ${memberId} union
          select project_id from user2applications where user_id = ${memberId}))`
  return fetchPage(getPageHandle(db, page, ['id']), { table: 'projects', columns, page, where })
}

/** Returns the projects with these ids, in any order. */
export function findProjects(db: Reads, ids: readonly string[]): Promise<Project[]> {
  return withPreparedStatements(db)
    .selectFrom('projects')
    .select(columns)
    .where('id', '=', anyOf(ids))
    .execute()
}

export function findProjectBySlug(db: Reads, slug: string): Promise<Project | undefined> {
  return withPreparedStatements(db)
    .selectFrom('projects')
    .select(columns)
    .where('slug', '=', slug)
    .executeTakeFirst()
}

/** Returns a project and locks its row until the transaction ends. */
export function lockProject(tx: Tx, id: string): Promise<Project | undefined> {
  return tx.selectFrom('projects').select(columns).where('id', '=', id).forUpdate().executeTakeFirst()
}

export function insertProject(tx: Tx, values: { id: string; name: string; slug: string }): Promise<Project> {
  return tx.insertInto('projects').values(values).returning(columns).executeTakeFirstOrThrow()
}

export function updateProject(tx: Tx, id: string, values: { name: string; slug: string }): Promise<Project> {
  return tx
    .updateTable('projects')
    .set({ ...values, updatedAt: sql`now()` })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()
}

const chunkSize = 5_000

/**
 * Deletes the project and everything in it. Tenants and pilets are deleted first, in chunks of 5,000, so that
 * no single statement exceeds its timeout.
 */
export async function deleteProject(tx: Tx, id: string): Promise<void> {
  await deleteInChunks(() => {
    const chunk = tx.selectFrom('tenants').select('id').where('projectId', '=', id).limit(chunkSize)
    return tx.deleteFrom('tenants').where('id', 'in', chunk).executeTakeFirstOrThrow()
  })
  await deleteInChunks(() => {
    const projectPackages = tx.selectFrom('piletPackages').select('id').where('projectId', '=', id)
    // The pilets are ordered by hash, because each chunk locks its blobs. Otherwise, a concurrent deletion of a project
    // with the same blobs could deadlock.
    return tx
      .deleteFrom('piletPackages')
      .where('id', 'in', projectPackages.orderBy('hash').limit(chunkSize))
      .executeTakeFirstOrThrow()
  })
  await tx.deleteFrom('projects').where('id', '=', id).execute()
}

async function deleteInChunks(deleteChunk: () => Promise<DeleteResult>): Promise<void> {
  while ((await deleteChunk()).numDeletedRows >= chunkSize);
}

const slugLookup: Lookup<Target> = {
  name: 'target-projects-by-slug',
  kind: 'read',
  size: 'large',
  text: `
    select wanted.position::int, found.* from unnest($1::text[]) with ordinality as wanted (slug, position)
    cross join lateral (
      select id as "projectId" from projects where projects.slug = wanted.slug limit 1
    ) found`,
}

/** Finds a project by slug for policy checks. */
export const findProjectTarget: FindTarget = (lookUp, [slug]) => lookUp(slugLookup, [toSlugKey(slug)])
