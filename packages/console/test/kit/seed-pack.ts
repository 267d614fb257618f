// Inserts a language pack with SQL, including texts that the API would reject.
import { randomUUID } from 'node:crypto'
import type { Scene } from './scene.ts'

/** Inserts a pack with these translations, and returns its id. */
export async function seedPack(
  sql: Scene['service']['sql'],
  projectId: string,
  name: string,
  translations: Readonly<Record<string, string>>,
): Promise<string> {
  const id = randomUUID()
  const content = JSON.stringify(Object.entries(translations).map(([Key, Value]) => ({ Key, Value })))
  await sql.query(
    'insert into language_packs (id, project_id, name, content, content_bytes) values ($1, $2, $3, $4, $5)',
    [id, projectId, name, content, Buffer.byteLength(content)],
  )
  return id
}
