import { sql } from 'kysely'
import type { Db } from '../platform/db/database.ts'
import type { ViewName } from './views.ts'

/** What stands for these old rows now; those that were kept aside are not in it. */
export async function newIdsOf(
  db: Db,
  view: ViewName,
  oldIds: readonly string[],
): Promise<Map<string, string>> {
  const { rows } = await sql<{ oldId: string; newId: string }>`
    select old_id, new_id from legacy_rows
    where view = ${view} and old_id = any(${oldIds}::text[]) and new_id is not null`.execute(db)
  return new Map(rows.map(({ oldId, newId }) => [oldId, newId]))
}
