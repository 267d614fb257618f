import { sql } from 'kysely'
import type { Reads } from '@manager/manager/storage'
import type { ViewName } from './views.ts'

/** Maps old ids to the ids of the rows that represent them. Skipped rows are not included. */
export async function findNewIds(
  db: Reads,
  view: ViewName,
  oldIds: readonly string[],
): Promise<Map<string, string>> {
  const { rows } = await sql<{ oldId: string; newId: string }>`
    select wanted.old_id, found.new_id from unnest(${oldIds}::text[]) as wanted (old_id)
    cross join lateral (
      select l.new_id from legacy_rows l where l.view = ${view} and l.old_id = wanted.old_id limit 1
    ) found where found.new_id is not null`.execute(db)
  return new Map(rows.map(({ oldId, newId }) => [oldId, newId]))
}
