// What the service's own database role may do when migrations run under another one: everything its work needs, and on
// audit tables nothing but reading and appending.
import type { ClientBase } from 'pg'

const appendOnly = ['audit_logs', 'audit_checkpoints']

/** Grants the role its privileges; run again after every migration. */
export async function grantPrivileges(client: ClientBase, role: string): Promise<void> {
  const { rows } = await client.query<{ me: string }>('select current_user as me')
  if (rows[0]?.me === role)
    throw new Error(
      `database.service_role must not be the role that migrates (${role}): it would lose its own privileges`,
    )
  const name = client.escapeIdentifier(role)
  await client.query('begin')
  await client.query(`grant usage on schema public to ${name}`)
  await client.query(`grant select, insert, update, delete on all tables in schema public to ${name}`)
  await client.query(`grant execute on all functions in schema public to ${name}`)
  for (const table of appendOnly)
    await client.query(`revoke update, delete, truncate on ${table} from ${name}`)
  await client.query(`revoke insert, update, delete on pgmigrations, schema_compatibility from ${name}`)
  await client.query('commit')
}
