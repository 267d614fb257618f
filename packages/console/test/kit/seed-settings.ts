// Inserts settings of one layer with SQL, including texts that the API would reject.
import type { SeededProject } from '@manager/harness/seed.ts'
import type { Scene } from './scene.ts'

type Layer = 'project' | 'application' | 'tenant'
type Pairs = Readonly<Record<string, string>>

/** Sets the keys of the backend part, which every layer has. */
export async function seedSettings(
  sql: Scene['service']['sql'],
  { id, tenantId, applicationId }: Pick<SeededProject, 'id' | 'tenantId' | 'applicationId'>,
  layer: Layer,
  pairs: Pairs,
): Promise<void> {
  const config = { KeyValuePairs: Object.entries(pairs).map(([Key, Value]) => ({ Key, Value })) }
  await sql.query(
    `insert into settings (project_id, tenant_id, application_id, backend_module_config) values ($1, $2, $3, $4)
     on conflict on constraint settings_layer_key do update
       set backend_module_config = excluded.backend_module_config, updated_at = now()`,
    [
      id,
      layer === 'tenant' ? tenantId : null,
      layer === 'application' ? applicationId : null,
      JSON.stringify(config),
    ],
  )
}
