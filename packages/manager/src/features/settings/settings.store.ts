import { type RawBuilder, sql } from 'kysely'
import { type Queries, type Reads, type Tx, withPreparedStatements } from '../../platform/postgres/handles.ts'
import { badRequest } from '../../platform/errors.ts'
import { type FindTarget, createIdFinder } from '../../policy/scopes.ts'
import {
  type BackendModuleConfig,
  type FrontendModuleConfig,
  fillBackendDefaults,
  fillFrontendDefaults,
} from './layers.pure.ts'
import type { RevisionFields } from '../../platform/postgres/revised.ts'

export type Settings = RevisionFields & {
  id: string
  projectId: string
  tenantId: string | null
  applicationId: string | null
  backend: BackendModuleConfig
  frontend: FrontendModuleConfig
}
type StoredSettings = Omit<Settings, 'backend' | 'frontend'> & {
  backend: Partial<BackendModuleConfig>
  frontend: Partial<FrontendModuleConfig>
}
export type Owner =
  { project: string } | { tenant: string } | { application: string } | { tenant2application: string }
/** A row with the size of its values, but without the values. */
export type SizedRow = { id: string; bytes: number }

const columns = sql`s.id, s.project_id, s.tenant_id, s.application_id, s.revision, s.updated_at,
  s.backend_module_config as backend, s.frontend_module_config as frontend`

const fillDefaults = (row: StoredSettings): Settings => ({
  ...row,
  backend: fillBackendDefaults(row.backend),
  frontend: fillFrontendDefaults(row.frontend),
})

/** Returns the row of this owner without its values, or undefined. */
export async function findRow(db: Reads, owner: Owner): Promise<SizedRow | undefined> {
  const { rows } = await sql<SizedRow>`
    select s.id, s.content_bytes as bytes from settings s where ${buildOwnerCondition(owner)}`.execute(
    withPreparedStatements(db),
  )
  return rows[0]
}

function buildOwnerCondition(owner: Owner): RawBuilder<boolean> {
  if ('project' in owner)
    return sql`s.project_id = ${owner.project} and s.tenant_id is null and s.application_id is null`
  if ('tenant' in owner)
    return sql`s.project_id = (select project_id from tenants where id = ${owner.tenant})
      and s.tenant_id = ${owner.tenant} and s.application_id is null`
  if ('application' in owner) return sql`s.application_id = ${owner.application} and s.tenant_id is null`
  return sql`(s.application_id, s.tenant_id) = (
    select application_id, tenant_id from tenant2applications where id = ${owner.tenant2application})`
}

/** Inserts the row of an owner unless it exists. Returns whether a row was inserted. */
export async function insertRow(db: Queries, owner: Owner): Promise<boolean> {
  const { numAffectedRows } = await sql`
    insert into settings (project_id, tenant_id, application_id) ${selectOwnerIds(owner)}
    on conflict do nothing`.execute(db)
  return numAffectedRows === 1n
}

function selectOwnerIds(owner: Owner): RawBuilder<unknown> {
  if ('project' in owner)
    return sql`select id, null::uuid, null::uuid from projects where id = ${owner.project}`
  if ('tenant' in owner) return sql`select project_id, id, null::uuid from tenants where id = ${owner.tenant}`
  if ('application' in owner)
    return sql`select project_id, null::uuid, id from applications where id = ${owner.application}`
  return sql`select project_id, tenant_id, application_id from tenant2applications
    where id = ${owner.tenant2application}`
}

/** Returns the settings of these Tenant2Application rows, without their values. */
export async function findLeafRows(
  db: Reads,
  tenant2ApplicationIds: readonly string[],
): Promise<(SizedRow & { ownerId: string })[]> {
  const { rows } = await sql<SizedRow & { ownerId: string }>`
    select s.id, s.content_bytes as bytes, t2a.id as owner_id
    from tenant2applications t2a
    join settings s on s.application_id = t2a.application_id and s.tenant_id = t2a.tenant_id
    where t2a.id = any(${tenant2ApplicationIds}::uuid[])`.execute(withPreparedStatements(db))
  return rows
}

/** Returns the total size of the four layers of an application in a tenant. */
export async function readLayersSize(db: Reads, applicationId: string, tenantId: string): Promise<number> {
  const isInProject = sql`s.project_id = a.project_id and s.application_id is null`
  const { rows } = await sql<{ bytes: number }>`
    select ${buildSizeSql(sql`${isInProject} and s.tenant_id is null`)}
      + ${buildSizeSql(sql`s.application_id = a.id and s.tenant_id is null`)}
      + ${buildSizeSql(sql`${isInProject} and s.tenant_id = ${tenantId}`)}
      + ${buildSizeSql(sql`s.application_id = a.id and s.tenant_id = ${tenantId}`)} as bytes
    from applications a where a.id = ${applicationId}`.execute(withPreparedStatements(db))
  return rows[0]?.bytes ?? 0
}

const buildSizeSql = (where: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`coalesce((select s.content_bytes from settings s where ${where}), 0)`

/** Returns the rows with these ids, in any order. */
export async function findSettings(db: Reads, ids: readonly string[]): Promise<Settings[]> {
  const { rows } = await sql<StoredSettings>`
    select ${columns} from settings s where s.id = any(${ids}::uuid[])`.execute(withPreparedStatements(db))
  return rows.map(fillDefaults)
}

/** Locks rows of a project in the order of their ids until the transaction ends, and returns their sizes. */
export async function lockSizes(tx: Tx, projectId: string, ids: readonly string[]): Promise<SizedRow[]> {
  const { rows } = await sql<SizedRow>`
    select s.id, s.content_bytes as bytes from settings s
    where s.id = any(${ids}::uuid[]) and s.project_id = ${projectId} order by s.id for update`.execute(tx)
  return rows
}

/** Returns a row and locks it until the transaction ends. */
export async function lockSettings(tx: Tx, id: string): Promise<Settings | undefined> {
  const { rows } = await sql<StoredSettings>`
    select ${columns} from settings s where s.id = ${id} for update`.execute(tx)
  return rows.map(fillDefaults)[0]
}

export async function updateSettings(
  tx: Tx,
  id: string,
  { backend, frontend }: Pick<Settings, 'backend' | 'frontend'>,
): Promise<RevisionFields> {
  const [backendText, frontendText] = [JSON.stringify(backend), JSON.stringify(frontend)]
  const { rows } = await sql<RevisionFields>`
    update settings set backend_module_config = ${backendText}::jsonb,
      frontend_module_config = ${frontendText}::jsonb,
      content_bytes = ${Buffer.byteLength(backendText) + Buffer.byteLength(frontendText)},
      updated_at = now()
    where id = ${id} returning revision, updated_at`.execute(tx)
  return rows[0] as RevisionFields
}

const ownerTables = [
  createIdFinder('projects', { project: 'id' }),
  createIdFinder('tenants', { tenant: 'id' }),
  createIdFinder('applications', { application: 'id' }),
  createIdFinder('tenant2applications', { tenant: 'tenant_id', application: 'application_id' }),
]

/** Finds the owner of a settings row for policy checks. Throws unless exactly one owner is given. */
export const findOwnerTarget: FindTarget = async (lookUp, key) => {
  const [given, ...others] = ownerTables.flatMap((find, index) => {
    const id = key[index] ?? null
    return id === null ? [] : [{ find, id }]
  })
  if (given === undefined || others.length > 0)
    throw badRequest('pass exactly one of project, tenant, application and tenant2application')
  return given.find(lookUp, [given.id])
}
