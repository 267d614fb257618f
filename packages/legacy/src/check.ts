// Compares an imported installation with the old one from the perspective of callers, without using the import code.
// It runs the same queries as requests do, and compares the results with those that the old rows imply.
import { sql } from 'kysely'
import type { Database, Reads } from '@manager/manager/storage'
import { checkAccess } from './check-access.ts'
import { checkCredentials } from './check-credentials.ts'
import { checkSettings } from './check-settings.ts'
import { type CheckPart, createPart } from './check-part.ts'
import type { Progress } from './import.ts'
import type { TypeEnvironments } from './project.ts'
import { type Source, withSource } from './source.ts'
import { type ViewName, viewNames } from './views.ts'

export type Check = { parts: CheckPart[]; differences: number }
type CheckOptions = { from: string; onProgress: (done: Progress) => void }

/**
 * Reads the old installation again. For each person and application, runs the queries of one request, in large
 * batches.
 */
export const checkImport = ({ database }: { database: Database }, options: CheckOptions): Promise<Check> =>
  withSource(options.from, async (source) => {
    const types = await readImportedTypes(database.db.read)
    const total = source.fingerprints.applications.rows + source.fingerprints.tenant_members.rows
    let readCount = 0
    const onRow = (): void => options.onProgress({ readCount: ++readCount, of: total })
    const parts = [
      await checkCounts(database.db.read, source),
      await checkRows(database.db.read),
      await checkSettings(database, source, onRow),
      ...(await checkAccess(database, source, onRow)),
      ...(await checkCredentials(database.db.read, source, types)),
    ]
    return { parts, differences: parts.reduce((sum, { differing }) => sum + differing, 0) }
  })

async function readImportedTypes(db: Reads): Promise<TypeEnvironments> {
  const { rows } = await sql<{ types: TypeEnvironments; isFinished: boolean }>`
    select types, finished_at is not null as is_finished from legacy_imports`.execute(db)
  if (rows[0] === undefined)
    throw new Error('nothing has been imported into this database; run `legacy import`')
  if (!rows[0].isFinished) throw new Error('the import is incomplete; run `legacy import` again to resume it')
  return rows[0].types
}

/** Checks that every old row is accounted for exactly once. */
async function checkCounts(db: Reads, source: Source): Promise<CheckPart> {
  const { rows } = await sql<{ view: string; rows: number }>`
    select view, count(*)::int as rows from legacy_rows group by view`.execute(db)
  const recordedCounts = new Map(rows.map((row) => [row.view, row.rows]))
  const part = createPart('views whose rows are all accounted for')
  for (const view of viewNames) {
    const [sourceCount, recordedCount] = [source.fingerprints[view].rows, recordedCounts.get(view) ?? 0]
    part.compare(
      sourceCount === recordedCount,
      () => `legacy.${view}: ${recordedCount} of ${sourceCount} rows accounted for`,
    )
  }
  return part.result
}

/** The new table for each view. Backends are not checked, because they may register or unregister at any time. */
const tablesByView: Partial<Record<ViewName, string>> = {
  projects: 'projects',
  tenants: 'tenants',
  applications: 'applications',
  tenant_members: 'user2tenants',
  machine_users: 'machine_users',
  settings: 'settings',
  endpoints: 'endpoints',
  pilets: 'pilet_packages',
  tokens: 'personal_access_tokens',
}

/** Checks that every new row that represents an old row exists. */
async function checkRows(db: Reads): Promise<CheckPart> {
  const part = createPart('rows that represent old rows')
  for (const [view, table] of Object.entries(tablesByView)) {
    const { rows } = await sql<{ rows: number; missing: number; example: string | null }>`
      select count(*)::int as rows, count(*) filter (where t.id is null)::int as missing,
        min(l.old_id) filter (where t.id is null) as example
      from legacy_rows l left join ${sql.table(table)} t on t.id = l.new_id
      where l.view = ${view} and l.new_id is not null`.execute(db)
    const counts = rows[0] ?? { rows: 0, missing: 0, example: null }
    part.add(
      counts.rows,
      counts.missing,
      () => `legacy.${view} ${counts.example}: the new row in ${table} is missing`,
    )
  }
  return part.result
}
