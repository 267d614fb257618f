// Grants privileges to the service role if migrations run under a different role. The service role can only
// read and append to audit tables.
import type { ClientBase } from 'pg'

const appendOnlyTables = [
  'audit_logs',
  'audit_checkpoints',
  'access_attestations',
  'access_attestation_entries',
]

/** Throws an error that says what to do, unless the role exists and is not the migrating role. */
export async function assertServiceRole(client: ClientBase, role: string): Promise<void> {
  const { rows } = await client.query<{ is_me: boolean }>(
    'select rolname = current_user as is_me from pg_roles where rolname = $1',
    [role],
  )
  if (rows[0] === undefined)
    throw new Error(
      `database.service_role (SVC_DATABASE_SERVICE_ROLE) names the role "${role}", which does not exist; create it, or correct the setting`,
    )
  if (rows[0].is_me)
    throw new Error(
      `database.service_role must not be the role that runs migrations (${role}): that role would lose its own privileges`,
    )
}

/** Grants the role its privileges. Call the function again after every migration. */
export async function grantPrivileges(client: ClientBase, role: string): Promise<void> {
  const name = client.escapeIdentifier(role)
  await client.query('begin')
  for (const schema of ['public', 'jobs']) {
    await client.query(`grant usage on schema ${schema} to ${name}`)
    await client.query(`grant select, insert, update, delete on all tables in schema ${schema} to ${name}`)
    await client.query(`grant execute on all functions in schema ${schema} to ${name}`)
  }
  for (const table of appendOnlyTables)
    await client.query(`revoke update, delete, truncate on ${table} from ${name}`)
  await client.query(`revoke insert, update, delete on pgmigrations, schema_compatibility from ${name}`)
  await client.query('commit')
}
