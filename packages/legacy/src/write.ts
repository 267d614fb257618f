// Writes steps in batches. Each batch is one transaction with the new rows, their audit rows and the outcomes
// of the old rows. A step that is already in the ledger is skipped, so an interrupted import resumes where it
// stopped.
import { sql } from 'kysely'
import type { LockMasterKey } from '@manager/manager/sealing'
import {
  type AppendMany,
  type AuditActor,
  type Blobs,
  type Db,
  type StoredBlob,
  type Reads,
  type Tx,
  createSystemActor,
} from '@manager/manager/storage'
import { type NewRow, type Step, type TableName, tables } from './steps.ts'

export type WriteDeps = { db: Db; appendMany: AppendMany; blobs: Blobs; lockMasterKey: LockMasterKey }

const batchRows = 500
// Rows are passed as one JSON value per statement, and the database limits the size of a value.
const batchBytes = 8 * 1_048_576
const importActor: AuditActor = createSystemActor('manager legacy import')

/** Writes all steps. Reads the next batch while the previous batch is written. */
export async function writeSteps(deps: WriteDeps, steps: AsyncIterable<Step>): Promise<void> {
  let batch: Step[] = []
  let [rows, bytes] = [0, 0]
  let pendingWrite: Promise<void> = Promise.resolve()
  const flush = async (): Promise<void> => {
    await pendingWrite
    pendingWrite = writeBatch(deps, batch)
    // The next await on `pendingWrite` throws the error.
    pendingWrite.catch(() => undefined)
    ;[batch, rows, bytes] = [[], 0, 0]
  }
  for await (const step of steps) {
    batch.push(step)
    rows += 1 + step.rows.length
    bytes += estimateBytes(step)
    if (rows >= batchRows || bytes >= batchBytes || step.blob !== undefined) await flush()
  }
  await flush()
  await pendingWrite
}

/** Estimates the size of values that may be long: settings and templates. */
const estimateBytes = ({ rows }: Step): number =>
  rows.reduce((sum, { values }) => {
    const template = values['transformation_template']
    return sum + Number(values['content_bytes'] ?? 0) + (typeof template === 'string' ? template.length : 0)
  }, 0)

async function writeBatch(deps: WriteDeps, batch: readonly Step[]): Promise<void> {
  const recordedKeys = await findRecordedKeys(deps.db.read, batch)
  const steps = batch.filter((step) => !recordedKeys.has(formatKey(step)))
  if (steps.length === 0) return
  const storedBlobs: StoredBlob[] = []
  for (const { blob } of steps)
    if (blob !== undefined) storedBlobs.push(await deps.blobs.store(blob.sha256, blob.bytes))
  const transaction = deps.db.transaction(async (tx) => {
    await deps.lockMasterKey(tx)
    const rows = steps.flatMap((step) => step.rows)
    for (const table of tables) await insertRows(tx, table, rows)
    for (const blob of storedBlobs) await deps.blobs.reference(tx, blob)
    await addUsage(tx, rows)
    await insertLedger(tx, steps)
    await deps.appendMany(
      tx,
      importActor,
      steps.flatMap((step) => step.events),
    )
  })
  await transaction.catch((error: unknown) => {
    throw describeConflict(error)
  })
}

/** Describes a conflict. The message contains no values of the row, because they may be credentials. */
function describeConflict(error: unknown): unknown {
  const { code, constraint = '' } = error as { code?: string; constraint?: string }
  if (code !== '23505') return error
  return new Error(
    `an id or name of an old row already exists in the Manager (${constraint}); this batch was not written. Import into a database without the conflicting row`,
    { cause: error },
  )
}

const formatKey = ({ view, oldId }: { view: string; oldId: string }): string => `${view} ${oldId}`

/**
 * Returns the keys of steps that are already recorded. Looks up steps one by one, because the planner statistics for a
 * growing table are outdated.
 */
async function findRecordedKeys(db: Reads, batch: readonly Step[]): Promise<Set<string>> {
  const [views, oldIds] = [batch.map(({ view }) => view), batch.map(({ oldId }) => oldId)]
  const { rows } = await sql<{ view: string; oldId: string }>`
    select wanted.view, wanted.old_id from unnest(${views}::text[], ${oldIds}::text[]) as wanted (view, old_id)
    cross join lateral (
      select from legacy_rows l where l.view = wanted.view and l.old_id = wanted.old_id limit 1
    ) found`.execute(db)
  return new Set(rows.map(formatKey))
}

async function insertLedger(tx: Tx, steps: readonly Step[]): Promise<void> {
  const rows = steps.map(({ view, oldId, outcome, newId, rules, detail }) => ({
    view,
    old_id: oldId,
    outcome,
    new_id: newId,
    rules,
    detail,
  }))
  await sql`
    insert into legacy_rows (view, old_id, outcome, new_id, rules, detail)
    select view, old_id, outcome, new_id, rules, detail
    from jsonb_populate_recordset(null::legacy_rows, ${JSON.stringify(rows)}::jsonb)`.execute(tx)
}

/** Existing users are not changed. Settings that were created empty with their owner are overwritten. */
const conflictClauses: Partial<Record<TableName, string>> = {
  users: 'on conflict (id) do nothing',
  settings: `on conflict on constraint settings_layer_key do update set id = excluded.id,
    backend_module_config = excluded.backend_module_config,
    frontend_module_config = excluded.frontend_module_config, content_bytes = excluded.content_bytes`,
}

/** Inserts the rows of a table, with one statement per set of columns. */
async function insertRows(tx: Tx, table: TableName, rows: readonly NewRow[]): Promise<void> {
  const values = rows.filter((row) => row.table === table).map((row) => row.values)
  const distinctValues =
    table === 'users' ? [...new Map(values.map((row) => [row['id'], row])).values()] : values
  for (const [columns, same] of Map.groupBy(distinctValues, (row) => Object.keys(row).join(', ')))
    await sql`
      insert into ${sql.table(table)} (${sql.raw(columns)})
      select ${sql.raw(columns)} from jsonb_populate_recordset(null::${sql.table(table)}, ${JSON.stringify(same)}::jsonb)
      ${sql.raw(conflictClauses[table] ?? '')}`.execute(tx)
}

/** Updates the package count and size of each project. */
async function addUsage(tx: Tx, rows: readonly NewRow[]): Promise<void> {
  for (const { table, values } of rows)
    if (table === 'pilet_packages')
      await sql`
        insert into pilet_usage as u (project_id, packages, bytes) values (${values['project_id']}, 1, ${values['size']})
        on conflict (project_id) do update set packages = u.packages + 1, bytes = u.bytes + excluded.bytes`.execute(
        tx,
      )
}
