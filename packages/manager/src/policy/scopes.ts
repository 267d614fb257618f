// Scopes find the project, tenant and application of the objects that policies name. One statement resolves any number
// of keys. Each feature defines the `scopes` of its own objects.
import { sql } from 'kysely'
import type { Reads } from '../platform/postgres/handles.ts'
import { parseUuid } from '../platform/ids.ts'
import type { Permission } from './permissions.ts'

export type Target = { projectId: string; tenantId?: string | null; applicationId?: string | null }
type Key = (string | null)[]
export type FindTargets = (db: Reads, keys: Key[]) => Promise<(Target | null)[]>
/** An object kind that policies can name. */
export type ScopeDefinition = {
  /** Name of the object kind in error messages. */
  noun: string
  /** The permission to see the object: callers without it get "not found". */
  view: Permission
  find: FindTargets
}
/** Scopes by the name that `@can(in: …)` uses. */
export type Scopes = Readonly<Record<string, ScopeDefinition>>

type Row = { key: string } & Target

const nullIdSql = 'null::uuid'

/** Finds rows of one table by id; the options name the columns with the project, tenant and application of a row. */
export function createFindById(
  table: string,
  { project = 'project_id', tenant = nullIdSql, application = nullIdSql } = {},
): FindTargets {
  return async (db, keys) => {
    const ids = keys.map(([id]) => parseUuid(id))
    const { rows } = await sql<Row>`
      select id as key, ${sql.raw(project)} as project_id, ${sql.raw(tenant)} as tenant_id,
        ${sql.raw(application)} as application_id
      from ${sql.table(table)} where id = any(${ids.filter((id) => id !== null)}::uuid[])`.execute(db)
    const rowsByKey = new Map(rows.map((row) => [row.key, row]))
    return ids.map((id) => (id === null ? null : (rowsByKey.get(id) ?? null)))
  }
}

/** Finds rows by (project id, slug). */
export function createFindBySlug(
  table: 'tenants' | 'applications',
  idColumn: 'tenant_id' | 'application_id',
): FindTargets {
  return async (db, keys) => {
    const pairs = keys.map(([projectId, slug]) => ({ projectId: parseUuid(projectId), slug: slug ?? '' }))
    const { rows } = await sql<Row>`
      select wanted.position as key, t.project_id, t.id as ${sql.ref(idColumn)}
      from unnest(${pairs.map((p) => p.projectId)}::uuid[], ${pairs.map((p) => p.slug.replaceAll('\0', ''))}::text[])
        with ordinality as wanted (project_id, slug, position)
      join ${sql.table(table)} t on t.project_id = wanted.project_id and t.slug = wanted.slug`.execute(db)
    const rowsByKey = new Map(rows.map((row) => [Number(row.key), row]))
    return pairs.map((_, index) => rowsByKey.get(index + 1) ?? null)
  }
}
