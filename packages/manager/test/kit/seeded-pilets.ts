// Stores pilets without an upload, and reads the data that an upload leaves behind.
import { createHash } from 'node:crypto'
import type { Pool } from 'pg'
import { computePrecedence } from '../../src/features/pilets/precedence.pure.ts'
import type { TestApp } from './app.ts'

/** Stores one version without an upload and returns its name. */
export async function seedPilet(
  sql: Pool,
  { id: projectId }: { id: string },
  values: { name: string; version?: string; enabled?: boolean; bytes?: string },
): Promise<string> {
  const { name, version = '1.0.0', enabled = true, bytes = `the bytes of ${name} ${version}` } = values
  const hash = createHash('sha256').update(bytes).digest('hex')
  await sql.query(
    `insert into blobs (sha256, size, store, unreferenced_since) values ($1, $2, 'postgres', null)
     on conflict (sha256) do update set unreferenced_since = null`,
    [hash, bytes.length],
  )
  await sql.query(
    'insert into blob_chunks (sha256, position, bytes) values ($1, 0, $2) on conflict do nothing',
    [hash, Buffer.from(bytes)],
  )
  const { precedence, isStable } = computePrecedence(version)
  await sql.query(
    `insert into pilet_packages (id, project_id, name, version, precedence, is_stable, content_type, size, hash, spec, enabled)
     values (gen_random_uuid(), $1, $2, $3, $4, $5, 'text/javascript', $6, $7, 'v2', $8)`,
    [projectId, name, version, precedence, isStable, bytes.length, hash, enabled],
  )
  return name
}

/** Returns all data that an upload leaves behind. */
export const uploadTraces = async ({ sql, world }: TestApp): Promise<unknown> => ({
  rows: (
    await sql.query(`select (select count(*) from pilet_packages) packages, (select count(*) from blobs) blobs,
      (select count(*) from blob_chunks) chunks, (select count(*) from audit_logs) audit,
      (select sum(bytes) from pilet_usage) bytes`)
  ).rows,
  held: await world.metrics.registry.getSingleMetricAsString('svc_pilet_upload_bytes'),
})
