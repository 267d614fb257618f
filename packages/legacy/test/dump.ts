// Dumps everything that an import writes as one string, so that two results can be compared. The dump excludes write
// times and the order of audit rows, which may differ.
import { Client } from 'pg'

const tables = {
  users: 'id, external_name, external_username, external_email, role',
  projects: 'id, name, slug, created_at',
  environments: 'project_id, name, display_name, sort_order, protected',
  tenants: 'id, project_id, name, slug, deployment_mode, created_at',
  tenant_role_definitions: 'project_id, tenant_id, name, permissions, seeded',
  applications: 'id, project_id, name, slug, description, created_at',
  tenant2applications: 'id, project_id, tenant_id, application_id, enabled',
  settings:
    'project_id, tenant_id, application_id, backend_module_config, frontend_module_config, content_bytes',
  user2tenants: 'project_id, tenant_id, user_id, role_name',
  machine_users: `id, project_id, name, username, enabled, token_prefix, token_hash, password_hash,
    (select e.name from environments e where e.id = environment_id)`,
  endpoints:
    'id, project_id, application_id, name, description, enabled, consume_url, url, auth_type, auth_username, log_level',
  machine_user2endpoints: 'project_id, machine_user_id, endpoint_id, enabled',
  backend_registrations: 'id, project_id, application_id, machine_user_id, callback_url, version',
  pilet_packages:
    'id, project_id, name, version, precedence, is_stable, description, content_type, size, hash, enabled',
  pilet_usage: 'project_id, packages, bytes',
  blobs: 'sha256, size, store, unreferenced_since is null',
  blob_chunks: 'sha256, position, bytes',
  personal_access_tokens: 'id, user_id, name, token_prefix, hash, expires_at, revoked, has_check',
  legacy_imports: 'source, types, finished_at is not null',
  legacy_rows: 'view, old_id, outcome, new_id, rules, detail',
  audit_logs: 'entity_type, entity_id, action, description, metadata',
}

/** Returns the sorted rows of all tables. */
export async function dump(url: string): Promise<string> {
  const client = new Client({ connectionString: url })
  await client.connect()
  const parts: string[] = []
  for (const [table, columns] of Object.entries(tables)) {
    const { rows } = await client.query<{ line: string }>(
      `select row(${columns})::text collate "C" as line from ${table} order by line`,
    )
    parts.push(`${table}: ${rows.length}`, ...rows.map(({ line }) => line))
  }
  await client.end()
  return parts.join('\n')
}

/** Returns the entities whose creation or grant the audit trail records more than once. */
export async function repeatedAuditRows(url: string): Promise<string[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ entity: string }>(
    `select entity_type || ' ' || entity_id || ' ' || action as entity from audit_logs
     group by entity_type, entity_id, action having count(*) > 1`,
  )
  await client.end()
  return rows.map(({ entity }) => entity)
}
