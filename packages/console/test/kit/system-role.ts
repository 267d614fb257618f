import type { Scene } from './scene.ts'

/** Returns the system role of a person in the database. */
export const readRole = async ({ service }: Scene, id: string): Promise<string | undefined> =>
  (await service.sql.query<{ role: string }>('select role from users where id = $1', [id])).rows[0]?.role
