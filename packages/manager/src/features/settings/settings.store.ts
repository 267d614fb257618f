import { type RawBuilder, sql } from 'kysely'
import type { Db, Tx } from '../../platform/db/database.ts'
import { type BackendModuleConfig, type FrontendModuleConfig, fullBackend, fullFrontend } from './layers.ts'

export type Settings = {
  id: string
  projectId: string
  tenantId: string | null
  applicationId: string | null
  backend: BackendModuleConfig
  frontend: FrontendModuleConfig
}
type Stored = Omit<Settings, 'backend' | 'frontend'> & {
  backend: Partial<BackendModuleConfig> | null
  frontend: Partial<FrontendModuleConfig> | null
}
export type Owner =
  { project: string } | { tenant: string } | { application: string } | { tenant2application: string }

const columns = sql`s.id, s.project_id, s.tenant_id, s.application_id,
  s.backend_module_config as backend, s.frontend_module_config as frontend`

const fill = (row: Stored): Settings => ({
  ...row,
  backend: fullBackend(row.backend),
  frontend: fullFrontend(row.frontend),
})

/** The row attached to this owner; nothing when there is none. */
export async function findSettingsOf(db: Db | Tx, owner: Owner): Promise<Settings | undefined> {
  const { rows } = await sql<Stored>`select ${columns} from settings s where ${ownedBy(owner)}`.execute(db)
  return rows.map(fill)[0]
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

/** How many bytes the configs of these leaves have, and the leaves with the ids of their owners when that is little enough. */
export async function findLeaves(
  db: Db,
  tenant2ApplicationIds: readonly string[],
  maxBytes: number,
): Promise<{ bytes: number; leaves: (Settings & { ownerId: string })[] }> {
  const { rows } = await sql<Stored & { ownerId: string; bytes: string }>`
    with leaf as (
      select s.id, t2a.id as owner_id, sum(s.content_bytes) over () as bytes
      from tenant2applications t2a
      join settings s on s.application_id = t2a.application_id and s.tenant_id = t2a.tenant_id
      where t2a.id = any(${tenant2ApplicationIds}::uuid[])
    )
    select s.id, s.project_id, s.tenant_id, s.application_id, leaf.owner_id, leaf.bytes,
      case when leaf.bytes <= ${maxBytes} then s.backend_module_config end as backend,
      case when leaf.bytes <= ${maxBytes} then s.frontend_module_config end as frontend
    from leaf join settings s on s.id = leaf.id`.execute(db)
  return {
    bytes: Number(rows[0]?.bytes ?? 0),
    leaves: rows.map((row) => ({ ...fill(row), ownerId: row.ownerId })),
  }
}

/** One row, locked until the transaction ends. */
export async function lockSettings(tx: Tx, id: string): Promise<Settings | undefined> {
  const { rows } = await sql<Stored>`select ${columns} from settings s where s.id = ${id} for update`.execute(
    tx,
  )
  return rows.map(fill)[0]
}

/** Stores both configs. */
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

/** Makes the leaf of a tenant's row for an application unless there is one; true when it made one. */
export async function insertLeaf(tx: Tx, tenant2ApplicationId: string): Promise<boolean> {
  const { numAffectedRows } = await sql`
    insert into settings (project_id, tenant_id, application_id)
    select project_id, tenant_id, application_id from tenant2applications where id = ${tenant2ApplicationId}
    on conflict on constraint settings_layer_key do nothing`.execute(tx)
  return numAffectedRows === 1n
}

/** The leaf of a tenant's row for an application, locked until the transaction ends. */
export async function lockLeaf(tx: Tx, tenant2ApplicationId: string): Promise<Settings | undefined> {
  const { rows } = await sql<Stored>`select ${columns} from settings s
    where ${ownedBy({ tenant2application: tenant2ApplicationId })} for update`.execute(tx)
  return rows.map(fill)[0]
}
