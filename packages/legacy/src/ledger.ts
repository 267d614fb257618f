// Records imports in the database: the old installation, and the outcome of every row.
import { sql } from 'kysely'
import type { Db, Queries, Reads } from '@manager/manager/storage'
import type { TypeEnvironments } from './project.ts'
import type { Fingerprints } from './source.ts'
import { viewNames } from './views.ts'

/**
 * Records the old installation before the first row is written. Throws if a different installation is
 * recorded, or if the rows have changed.
 */
export async function claimSource(db: Db, source: Fingerprints, types: TypeEnvironments): Promise<void> {
  await sql`
    insert into legacy_imports (source, types) values (${JSON.stringify(source)}::jsonb, ${JSON.stringify(types)}::jsonb)
    on conflict (only_row) do update set source = excluded.source, types = excluded.types, started_at = now()
    where not exists (select from legacy_rows)`.execute(db.idempotent)
  const { rows } = await sql<{
    source: Fingerprints
    types: TypeEnvironments
  }>`select source, types from legacy_imports`.execute(db.read)
  const recordedImport = rows[0]
  if (recordedImport === undefined)
    throw new Error('the import was not recorded: the table legacy_imports is empty; run the import again')
  const changedViews = viewNames.filter(
    (view) =>
      recordedImport.source[view]?.rows !== source[view].rows ||
      recordedImport.source[view].fingerprint !== source[view].fingerprint,
  )
  if (changedViews.length > 0)
    throw new Error(
      `the old installation has changed since the import started: ${changedViews.map((view) => `legacy.${view}`).join(', ')}. ` +
        'Nothing was written. Stop the old service, restore its rows and run the import again. To start over, import into an empty database',
    )
  const changedType = Object.entries(types).find(
    ([type, environment]) => recordedImport.types[type] !== environment,
  )
  if (changedType !== undefined)
    throw new Error(
      `this import was started with --type ${JSON.stringify(`${changedType[0]}=${recordedImport.types[changedType[0]]}`)}; use the same value to resume`,
    )
}

export const markFinished = async (db: Queries): Promise<void> => {
  await sql`update legacy_imports set finished_at = coalesce(finished_at, now())`.execute(db)
}

/** Returns the slugs of projects that were not imported. */
export async function findForeignSlugs(db: Reads): Promise<Set<string>> {
  const { rows } = await sql<{ slug: string }>`
    select slug from projects p where not exists (
      select from legacy_rows l where l.view = 'projects' and l.new_id = p.id)`.execute(db)
  return new Set(rows.map(({ slug }) => slug))
}

/** Returns the outcomes of the rows with this old id. */
export async function findOldId(db: Reads, oldId: string) {
  return db
    .selectFrom('legacyRows')
    .select(['view', 'oldId', 'outcome', 'newId', 'rules', 'detail'])
    .where('view', 'in', viewNames)
    .where('oldId', '=', oldId)
    .orderBy('view')
    .execute()
}
