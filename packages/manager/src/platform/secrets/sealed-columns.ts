// Lists the columns that contain sealed secrets, and changes the key of these secrets while the service runs.
import { type RawBuilder, sql } from 'kysely'
import type { Db, Tx } from '../postgres/handles.ts'
import { type Secrets, readSealingKeyId } from './secrets.ts'

/** The columns of one table that contain sealed secrets. */
export type SealedColumns = { table: string; columns: readonly string[] }

const platformColumns: SealedColumns = { table: 'retired_keys', columns: ['sealed'] }

/** Returns all columns with sealed secrets, in the tables of the features and of the platform. */
export const joinSealedColumns = (featureColumns: readonly (readonly SealedColumns[])[]): SealedColumns[] => [
  ...featureColumns.flat(),
  platformColumns,
]

const batchSize = 500

type Row = { id: string } & Record<string, Buffer | string | null>

/** Returns how many secrets are sealed with each key. */
export async function countByKey(
  db: Db,
  sealedColumns: readonly SealedColumns[],
): Promise<Map<string, number>> {
  const countsByKey = new Map<string, number>()
  await walk({ sealedColumns, runBatch: createRunBatch(db), lock: sql`` }, async (_tx, _table, rows) => {
    for (const { sealed } of rows) {
      const keyId = readSealingKeyId(sealed)
      countsByKey.set(keyId, (countsByKey.get(keyId) ?? 0) + 1)
    }
  })
  return countsByKey
}

/**
 * Rewraps every secret with the active key. Each batch of a few hundred rows is locked in a separate
 * transaction, so the service keeps running and an interrupted run can be restarted.
 */
export async function rewrapAll(
  db: Db,
  sealedColumns: readonly SealedColumns[],
  secrets: Secrets,
  onBatch: (done: number) => void,
): Promise<{ seen: number; rewrapped: number }> {
  const result = { seen: 0, rewrapped: 0 }
  await walk(
    { sealedColumns, runBatch: createRunBatch(db), lock: sql`for no key update` },
    async (tx, table, rows) => {
      for (const { id, column, sealed } of rows) {
        result.seen++
        if (readSealingKeyId(sealed) === secrets.activeKeyId) continue
        const rewrappedSecret = secrets.rewrap(sealed, { table, column, id })
        await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${rewrappedSecret} where id = ${id}`.execute(
          tx,
        )
        result.rewrapped++
      }
      onBatch(result.seen)
    },
  )
  return result
}

/** Reseals every secret with other keys in one transaction. Returns the number of resealed secrets. */
export async function resealAll(
  tx: Tx,
  sealedColumns: readonly SealedColumns[],
  from: Secrets,
  to: Secrets,
): Promise<number> {
  let resealedCount = 0
  await walk(
    { sealedColumns, runBatch: (work) => work(tx), lock: sql`for no key update` },
    async (_tx, table, rows) => {
      for (const { id, column, sealed } of rows) {
        const location = { table, column, id }
        const resealedSecret = to.seal(openSealed(from, sealed, location), location)
        await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${resealedSecret} where id = ${id}`.execute(
          tx,
        )
        resealedCount++
      }
    },
  )
  return resealedCount
}

function openSealed(
  secrets: Secrets,
  sealed: Buffer,
  location: { table: string; column: string; id: string },
): string {
  try {
    return secrets.open(sealed, location)
  } catch (cause) {
    const { table, column, id } = location
    throw new Error(`cannot decrypt ${column} of ${table} ${id}: enter it again, or remove it`, { cause })
  }
}

/** Processes one batch of rows. */
type RunBatch = (work: (tx: Tx) => Promise<number>) => Promise<number>
const createRunBatch =
  (db: Db): RunBatch =>
  (work) =>
    // The work counts the rows that it visits, so it must not run twice.
    db.transaction(work, { mustNotRetry: true })

type WalkOptions = { sealedColumns: readonly SealedColumns[]; runBatch: RunBatch; lock: RawBuilder<unknown> }
type SealedSecret = { id: string; column: string; sealed: Buffer }

async function walk(
  { sealedColumns, runBatch, lock }: WalkOptions,
  visit: (tx: Tx, table: string, rows: SealedSecret[]) => Promise<void>,
): Promise<void> {
  for (const { table, columns } of sealedColumns) {
    let lastId = '00000000-0000-0000-0000-000000000000'
    for (;;) {
      const count = await runBatch(async (tx) => {
        // Columns keep their stored names, to which the sealed bytes are bound.
        const { rows } = await sql<Row>`
          select id, ${sql.join(columns.map((column) => sql.ref(column)))}
          from ${sql.table(table)} where id > ${lastId} order by id limit ${batchSize} ${lock}`.execute(
          tx.withoutPlugins(),
        )
        const sealedSecrets = rows.flatMap((row) =>
          columns.flatMap((column) => {
            const value = row[column]
            return Buffer.isBuffer(value) ? [{ id: row.id, column, sealed: value }] : []
          }),
        )
        await visit(tx, table, sealedSecrets)
        lastId = rows.at(-1)?.id ?? lastId
        return rows.length
      })
      if (count < batchSize) break
    }
  }
}
