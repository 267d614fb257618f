// Finds acknowledged data that is missing.
import type { Pool } from 'pg'
import type { Acknowledged } from './load.ts'

const found: Record<Acknowledged['kind'], string> = {
  write: 'select id::text as id from tenants',
  emit: 'select n.id::text as id from notifications n where exists (select from notification_recipients r where r.notification_id = n.id)',
  upload: 'select version as id from pilet_packages',
}

/** Returns the acknowledged objects that are not in the database. */
export async function findMissing(sql: Pool, acknowledged: readonly Acknowledged[]): Promise<Acknowledged[]> {
  const missing: Acknowledged[] = []
  for (const kind of ['write', 'emit', 'upload'] as const) {
    const { rows } = await sql.query<{ id: string }>(found[kind])
    const stored = new Set(rows.map(({ id }) => id))
    missing.push(...acknowledged.filter((one) => one.kind === kind && !stored.has(one.id)))
  }
  return missing
}
