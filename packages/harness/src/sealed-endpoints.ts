// Endpoints whose secrets are sealed with different keys.
import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import type { SeededProject } from './seed.ts'

type SecretLocation = { table: string; column: string; id: string }
/** Seals and opens secrets with the keys of one process. The caller passes the service's implementation. */
export type Sealing = {
  seal(text: string, location: SecretLocation): Buffer
  open(sealed: Buffer, location: SecretLocation): string
}
type Row = { id: string; auth_password: Buffer | null; auth_token: Buffer | null }

export const secretColumns = ['auth_password', 'auth_token'] as const
export const keys = {
  2025: Buffer.alloc(32, 5).toString('base64'),
  2026: Buffer.alloc(32, 6).toString('base64'),
  2027: Buffer.alloc(32, 7).toString('base64'),
}
export const ring = (...ids: (keyof typeof keys)[]): string => ids.map((id) => `${id}:${keys[id]}`).join(',')
export const textOf = (id: string, column: string): string => `${column} of ${id}`

/** Returns functions that seed and read sealed endpoints in the project. */
export function sealedEndpoints(
  scene: () => {
    sql: Pool
    project: Pick<SeededProject, 'id' | 'applicationId'>
  },
) {
  /** Inserts endpoints with two secrets each, which `secrets` seals, and returns their ids. */
  async function seedSealed(count: number, secrets: Sealing): Promise<string[]> {
    const ids = Array.from({ length: count }, () => randomUUID())
    const sealed = secretColumns.map((column) =>
      ids.map((id) => secrets.seal(textOf(id, column), { table: 'endpoints', column, id })),
    )
    const { sql, project } = scene()
    await sql.query(
      `insert into endpoints (id, project_id, application_id, name, description, enabled, consume_url, auth_type,
         auth_username, transformation_template, log_level, auth_password, auth_token, updated_at)
       select id, $1, $2, 'sealed', '', true, '/' || id, 'Basic', '', '', 'BASIC', password, token, '2020-01-01T00:00:00Z'
       from unnest($3::uuid[], $4::bytea[], $5::bytea[]) as wanted (id, password, token)`,
      [project.id, project.applicationId, ids, ...sealed],
    )
    return ids
  }
  async function stored(): Promise<Row[]> {
    const { rows } = await scene().sql.query<Row>(
      'select id, auth_password, auth_token from endpoints order by id',
    )
    return rows
  }
  /**
   * Opens all stored secrets. Returns a message for each secret that cannot be opened or has the wrong value.
   */
  async function openAll(secrets: Sealing, written = new Map<string, string>()): Promise<string[]> {
    const failures: string[] = []
    for (const row of await stored())
      for (const column of secretColumns)
        try {
          const text = secrets.open(row[column] as Buffer, { table: 'endpoints', column, id: row.id })
          const wanted = written.get(textOf(row.id, column)) ?? textOf(row.id, column)
          if (text !== wanted) failures.push(`${column} of ${row.id} is ${text}, not ${wanted}`)
        } catch (error) {
          failures.push(`${column} of ${row.id}: ${(error as Error).message}`)
        }
    return failures
  }
  return { seedSealed, stored, openAll }
}
