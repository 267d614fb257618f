// Scopes find the project, tenant and application of the objects that policies name. Concurrent requests share the
// statements. Each feature defines the `scopes` of its own objects.
import type { Lookup, RunLookup } from '../platform/postgres/lookups.ts'
import { parseUuid } from '../platform/ids.ts'
import type { Permission } from './permissions.ts'

export type Target = { projectId: string; tenantId?: string | null; applicationId?: string | null }
type Key = readonly (string | null)[]
export type FindTarget = (lookUp: RunLookup, key: Key) => Promise<Target | null>
/** An object kind that policies can name. */
export type ScopeDefinition = {
  /** Name of the object kind in error messages. */
  noun: string
  /** The permission to see the object: callers without it get "not found". */
  view: Permission
  find: FindTarget
}
/** Scopes by the name that `@can(in: …)` uses. */
export type Scopes = Readonly<Record<string, ScopeDefinition>>

const nullIdSql = 'null::uuid'
// Authentication must not queue behind these statements, for example while a migration locks one of the tables.
const size = 'large'

/** Finds rows of one table by id; the options name the columns with the project, tenant and application of a row. */
export function createIdFinder(
  table: string,
  { project = 'project_id', tenant = nullIdSql, application = nullIdSql } = {},
): FindTarget {
  const lookup: Lookup<Target> = {
    name: `target-${table}`,
    kind: 'read',
    size,
    text: `
    select wanted.position::int, found.* from unnest($1::uuid[]) with ordinality as wanted (id, position)
    cross join lateral (
      select ${project} as "projectId", ${tenant} as "tenantId", ${application} as "applicationId"
      from ${table} where ${table}.id = wanted.id limit 1
    ) found`,
  }
  return async (lookUp, [givenId]) => {
    const id = parseUuid(givenId)
    return id === null ? null : lookUp(lookup, [id])
  }
}

/** Finds rows by (project id, slug). */
export function createSlugFinder(
  table: 'tenants' | 'applications',
  idColumn: 'tenantId' | 'applicationId',
): FindTarget {
  const lookup: Lookup<Target> = {
    name: `target-${table}-by-slug`,
    kind: 'read',
    size,
    text: `
    select wanted.position::int, found.*
    from unnest($1::uuid[], $2::text[]) with ordinality as wanted (project_id, slug, position)
    cross join lateral (
      select project_id as "projectId", id as "${idColumn}"
      from ${table} where ${table}.project_id = wanted.project_id and ${table}.slug = wanted.slug limit 1
    ) found`,
  }
  return async (lookUp, [givenProjectId, slug]) => {
    const projectId = parseUuid(givenProjectId)
    return projectId === null ? null : lookUp(lookup, [projectId, toSlugKey(slug)])
  }
}

// Slugs have at most 64 characters. A longer text must not make the shared statement large.
const maxSlugKeyLength = 100

/** Returns the text to look up. PostgreSQL rejects U+0000, so it becomes a space, which no slug contains. */
export const toSlugKey = (slug: string | null | undefined): string =>
  (slug ?? '').slice(0, maxSlugKeyLength).replaceAll('\0', ' ')
