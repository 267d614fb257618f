import { type RawBuilder, sql } from 'kysely'
import type { Queries, Reads, Tx } from '../../platform/postgres/handles.ts'
import { badRequest } from '../../platform/errors.ts'
import { type FindTargets, byId } from '../../policy/scopes.ts'
import {
  type BackendModuleConfig,
  type FrontendModuleConfig,
  fullBackend,
  fullFrontend,
} from './layers.pure.ts'

export type Settings = {
  id: string
  projectId: string
  tenantId: string | null
  applicationId: string | null
  backend: BackendModuleConfig
  frontend: FrontendModuleConfig
}
type Stored = Omit<Settings, 'backend' | 'frontend'> & {
  backend: Partial<BackendModuleConfig>
  frontend: Partial<FrontendModuleConfig>
}
export type Owner =
  { project: string } | { tenant: string } | { application: string } | { tenant2application: string }
/** A row without its contents, with their size. */
export type Sized = { id: string; bytes: number }

const columns = sql`s.id, s.project_id, s.tenant_id, s.application_id,
  s.backend_module_config as backend, s.frontend_module_config as frontend`

const fill = (row: Stored): Settings => ({
  ...row,
  backend: fullBackend(row.backend),
  frontend: fullFrontend(row.frontend),
})

/** Returns the row of this owner without its contents, or undefined. */
export async function findRow(db: Reads, owner: Owner): Promise<Sized | undefined> {
  const { rows } = await sql<Sized>`
    select s.id, s.content_bytes as bytes from settings s where ${ownedBy(owner)}`.execute(db)
  return rows[0]
}

function ownedBy(owner: Owner): RawBuilder<boolean> {
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
    insert into settings (project_id, tenant_id, application_id) ${namesOf(owner)}
    on conflict do nothing`.execute(db)
  return numAffectedRows === 1n
}

function namesOf(owner: Owner): RawBuilder<unknown> {
  if ('project' in owner)
    return sql`select id, null::uuid, null::uuid from projects where id = ${owner.project}`
  if ('tenant' in owner) return sql`select project_id, id, null::uuid from tenants where id = ${owner.tenant}`
  if ('application' in owner)
    return sql`select project_id, null::uuid, id from applications where id = ${owner.application}`
  return sql`select project_id, tenant_id, application_id from tenant2applications
    where id = ${owner.tenant2application}`
}

/** Returns the settings of these rows of applications in tenants, without their contents. */
export async function findLeafRows(
  db: Reads,
  tenant2ApplicationIds: readonly string[],
): Promise<(Sized & { ownerId: string })[]> {
  const { rows } = await sql<Sized & { ownerId: string }>`
    select s.id, s.content_bytes as bytes, t2a.id as owner_id
    from tenant2applications t2a
    join settings s on s.application_id = t2a.application_id and s.tenant_id = t2a.tenant_id
    where t2a.id = any(${tenant2ApplicationIds}::uuid[])`.execute(db)
  return rows
}

/** Returns the total size of the four layers of an application in a tenant. */
export async function sizeOfLayers(db: Reads, applicationId: string, tenantId: string): Promise<number> {
  const inProject = sql`s.project_id = a.project_id and s.application_id is null`
  const { rows } = await sql<{ bytes: number }>`
    select ${sizeWhere(sql`${inProject} and s.tenant_id is null`)}
      + ${sizeWhere(sql`s.application_id = a.id and s.tenant_id is null`)}
      + ${sizeWhere(sql`${inProject} and s.tenant_id = ${tenantId}`)}
      + ${sizeWhere(sql`s.application_id = a.id and s.tenant_id = ${tenantId}`)} as bytes
    from applications a where a.id = ${applicationId}`.execute(db)
  return rows[0]?.bytes ?? 0
}

const sizeWhere = (where: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`coalesce((select s.content_bytes from settings s where ${where}), 0)`

/** Returns the rows with these ids, in any order. */
export async function findSettings(db: Reads, ids: readonly string[]): Promise<Settings[]> {
  const { rows } = await sql<Stored>`
    select ${columns} from settings s where s.id = any(${ids}::uuid[])`.execute(db)
  return rows.map(fill)
}

/** Returns a row and locks it until the transaction ends. */
export async function lockSettings(tx: Tx, id: string): Promise<Settings | undefined> {
  const { rows } = await sql<Stored>`
    select ${columns} from settings s where s.id = ${id} for update`.execute(tx)
  return rows.map(fill)[0]
}

export async function updateSettings(
  tx: Tx,
  id: string,
  { backend, frontend }: Pick<Settings, 'backend' | 'frontend'>,
): Promise<void> {
  const [backendText, frontendText] = [JSON.stringify(backend), JSON.stringify(frontend)]
  await sql`
    update settings set backend_module_config = ${backendText}::jsonb,
      frontend_module_config = ${frontendText}::jsonb,
      content_bytes = ${Buffer.byteLength(backendText) + Buffer.byteLength(frontendText)},
      updated_at = now()
    where id = ${id}`.execute(tx)
}

const ownerTables = [
  byId('projects', { project: 'id' }),
  byId('tenants', { tenant: 'id' }),
  byId('applications', { application: 'id' }),
  byId('tenant2applications', { tenant: 'tenant_id', application: 'application_id' }),
]

/** Finds the owner of a settings row for policy checks. Throws unless exactly one owner is given. */
export const byOwner: FindTargets = async (db, keys) => {
  const wanted = keys.map((key) => {
    const [kind, ...others] = ownerTables.map((_, index) => index).filter((index) => key[index] !== null)
    if (kind === undefined || others.length > 0)
      throw badRequest('pass exactly one of project, tenant, application and tenant2application')
    return { kind, id: key[kind] ?? null }
  })
  const found = await Promise.all(
    ownerTables.map(async (find, kind) => {
      const named = wanted.map((one) => [one.kind === kind ? one.id : null])
      return named.some(([id]) => id !== null) ? find(db, named) : []
    }),
  )
  return wanted.map(({ kind }, index) => found[kind]?.[index] ?? null)
}
