// Inserts package rows, for tests of the blobs to which they refer.
import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import type { StoredBlob } from '../../src/platform/blobs/blobs.ts'
import type { Tx } from '../../src/platform/postgres/handles.ts'
import type { BlobsWorld } from './blobs.ts'

/** Creates projects and returns their ids. */
export async function createProjects(sql: Pool, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => randomUUID())
  for (const id of ids)
    await sql.query("insert into projects (id, name, slug) values ($1, 'Project', $2)", [
      id,
      `project-${id.slice(0, 8)}`,
    ])
  return ids
}

/** Inserts a package in its own transaction, like an upload. `before` runs before the commit. */
export function addPackage(
  { database, blobs }: Pick<BlobsWorld, 'database' | 'blobs'>,
  projectId: string,
  kept: StoredBlob,
  before: (tx: Tx) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  return database.db.transaction(async (tx) => {
    await tx
      .insertInto('piletPackages')
      .values({
        id: randomUUID(),
        projectId,
        name: `pilet-${randomUUID()}`,
        version: '1.0.0',
        precedence: '001100100010~',
        isStable: true,
        contentType: 'text/javascript',
        size: 1,
        hash: kept.sha256,
        spec: 'v2',
        enabled: true,
      })
      .execute()
    await blobs.reference(tx, kept)
    await before(tx)
  })
}
