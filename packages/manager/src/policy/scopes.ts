// Finds the project, tenant and application a named thing belongs to. One statement answers any number of names.
import { sql } from 'kysely'
import type { Scope } from '../generated/graphql.ts'
import type { Db } from '../platform/db/database.ts'
import { badRequest } from '../platform/errors.ts'
import { parseUuid } from '../platform/ids.ts'
import type { Permission } from '../generated/graphql.ts'

export type Target = { projectId: string; tenantId?: string | null; applicationId?: string | null }
type Key = (string | null)[]
type Named = { noun: string; view: Permission; find: (db: Db, keys: Key[]) => Promise<(Target | null)[]> }

type Row = { key: string } & Target

/** Looks rows of one table up by id; `columns` are the SQL expressions for tenant and application. */
function byId(
  table: string,
  projectColumn: string,
  tenant = 'null::uuid',
  application = 'null::uuid',
): Named['find'] {
  return async (db, keys) => {
    const ids = keys.map(([id]) => parseUuid(id))
    const { rows } = await sql<Row>`
      select id as key, ${sql.raw(projectColumn)} as project_id, ${sql.raw(tenant)} as tenant_id,
        ${sql.raw(application)} as application_id
      from ${sql.table(table)} where id = any(${ids.filter((id) => id !== null)}::uuid[])`.execute(db)
    const found = new Map(rows.map((row) => [row.key, row]))
    return ids.map((id) => (id === null ? null : (found.get(id) ?? null)))
  }
}

/** Looks rows up by (project id, slug). */
function bySlug(table: 'tenants' | 'applications', own: 'tenant_id' | 'application_id'): Named['find'] {
  return async (db, keys) => {
    const pairs = keys.map(([projectId, slug]) => ({ projectId: parseUuid(projectId), slug: slug ?? '' }))
    const { rows } = await sql<Row>`
      select wanted.position as key, t.project_id, t.id as ${sql.ref(own)}
      from unnest(${pairs.map((p) => p.projectId)}::uuid[], ${pairs.map((p) => p.slug.replaceAll('\0', ''))}::text[])
        with ordinality as wanted (project_id, slug, position)
      join ${sql.table(table)} t on t.project_id = wanted.project_id and t.slug = wanted.slug`.execute(db)
    const found = new Map(rows.map((row) => [Number(row.key), row]))
    return pairs.map((_, index) => found.get(index + 1) ?? null)
  }
}

const projectBySlug: Named['find'] = async (db, keys) => {
  const slugs = keys.map(([slug]) => (slug ?? '').replaceAll('\0', ''))
  const rows = await db.selectFrom('projects').select(['id', 'slug']).where('slug', 'in', slugs).execute()
  const found = new Map(rows.map((row) => [row.slug, row.id]))
  return slugs.map((slug) => {
    const projectId = found.get(slug)
    return projectId === undefined ? null : { projectId }
  })
}

const projects = byId('projects', 'id')
const tenants = byId('tenants', 'project_id', 'id')
const applications = byId('applications', 'project_id', 'null::uuid', 'id')
const tenant2Applications = byId('tenant2applications', 'project_id', 'tenant_id', 'application_id')

/** Looks rows that join a tenant and an application up by the two. */
const byPair: Named['find'] = async (db, keys) => {
  const pairs = keys.map(([tenantId, applicationId]) => [parseUuid(tenantId), parseUuid(applicationId)])
  const { rows } = await sql<Row>`
    select wanted.position as key, t.project_id, t.tenant_id, t.application_id
    from unnest(${pairs.map(([tenantId]) => tenantId)}::uuid[], ${pairs.map(([, applicationId]) => applicationId)}::uuid[])
      with ordinality as wanted (tenant_id, application_id, position)
    join tenant2applications t on t.tenant_id = wanted.tenant_id and t.application_id = wanted.application_id`.execute(
    db,
  )
  const found = new Map(rows.map((row) => [Number(row.key), row]))
  return pairs.map((_, index) => found.get(index + 1) ?? null)
}

/** Looks the owner of a settings row up: exactly one of project, tenant, application and tenant2application is named. */
const settingsOwners: Named['find'] = async (db, keys) => {
  const finds = [projects, tenants, applications, tenant2Applications] as const
  const wanted = keys.map((key) => {
    const [kind, ...others] = finds.map((_, index) => index).filter((index) => key[index] !== null)
    if (kind === undefined || others.length > 0)
      throw badRequest('name exactly one of project, tenant, application and tenant2application')
    return { kind, id: key[kind] ?? null }
  })
  const found = await Promise.all(
    finds.map(async (find, kind) => {
      const named = wanted.map((one) => [one.kind === kind ? one.id : null])
      return named.some(([id]) => id !== null) ? find(db, named) : []
    }),
  )
  return wanted.map(({ kind }, index) => found[kind]?.[index] ?? null)
}

/** The tenant decides when it is named, else the application; naming neither finds nothing. */
const tenantOrApplication: Named['find'] = async (db, keys) => {
  const byTenant = await tenants(
    db,
    keys.map(([tenantId]) => [tenantId ?? null]),
  )
  const byApplication = await applications(
    db,
    keys.map(([, applicationId]) => [applicationId ?? null]),
  )
  return keys.map(([tenantId], index) => (tenantId === null ? byApplication[index] : byTenant[index]) ?? null)
}

/**
 * For each kind of thing: its noun in error texts, the permission that makes it visible (who lacks it is told "not
 * found"), and how it is looked up.
 */
export const scopes: Record<Exclude<Scope, 'SYSTEM'>, Named> = {
  PROJECT: { noun: 'project', view: 'PROJECT_VIEW', find: projects },
  PROJECT_SLUG: { noun: 'project', view: 'PROJECT_VIEW', find: projectBySlug },
  ENVIRONMENT: { noun: 'environment', view: 'PROJECT_READ', find: byId('environments', 'project_id') },
  TENANT: { noun: 'tenant', view: 'TENANT_READ', find: tenants },
  TENANT_SLUG: { noun: 'tenant', view: 'TENANT_READ', find: bySlug('tenants', 'tenant_id') },
  TENANT_ROLE_DEFINITION: {
    noun: 'tenant role definition',
    view: 'TENANT_ROLE_READ',
    find: byId('tenant_role_definitions', 'project_id', 'tenant_id'),
  },
  APPLICATION: { noun: 'application', view: 'APPLICATION_READ', find: applications },
  APPLICATION_SLUG: {
    noun: 'application',
    view: 'APPLICATION_READ',
    find: bySlug('applications', 'application_id'),
  },
  TENANT2APPLICATION: {
    noun: 'tenant2Application',
    view: 'TENANT2APPLICATION_READ',
    find: tenant2Applications,
  },
  TENANT2APPLICATION_PAIR: {
    noun: 'tenant2Application',
    view: 'TENANT2APPLICATION_READ',
    find: byPair,
  },
  SETTINGS: {
    noun: 'settings',
    view: 'SETTINGS_READ',
    find: byId('settings', 'project_id', 'tenant_id', 'application_id'),
  },
  SETTINGS_OWNER: { noun: 'settings', view: 'SETTINGS_READ', find: settingsOwners },
  ENDPOINT: {
    noun: 'endpoint',
    view: 'ENDPOINT_READ',
    find: byId('endpoints', 'project_id', 'null::uuid', 'application_id'),
  },
  MACHINE_USER2ENDPOINT: {
    noun: 'machineUser2Endpoint',
    view: 'ENDPOINT_ACCESS_READ',
    find: byId('machine_user2endpoints', 'project_id'),
  },
  LANGUAGE_PACK: {
    noun: 'language pack',
    view: 'LANGUAGE_PACK_READ',
    find: byId('language_packs', 'project_id'),
  },
  TENANT_OR_APPLICATION: { noun: 'tenant or application', view: 'TENANT_READ', find: tenantOrApplication },
  USER2PROJECT: {
    noun: 'user2project',
    view: 'PROJECT_MEMBER_READ',
    find: byId('user2projects', 'project_id'),
  },
  USER2TENANT: {
    noun: 'user2tenant',
    view: 'TENANT_MEMBER_READ',
    find: byId('user2tenants', 'project_id', 'tenant_id'),
  },
  USER2APPLICATION: {
    noun: 'user2application',
    view: 'APPLICATION_MEMBER_READ',
    find: byId('user2applications', 'project_id', 'null::uuid', 'application_id'),
  },
  MACHINE_USER: {
    noun: 'machine user',
    view: 'MACHINE_USER_READ',
    find: byId('machine_users', 'project_id'),
  },
}
