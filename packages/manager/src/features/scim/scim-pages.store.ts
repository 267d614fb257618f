// Reads pages of SCIM resources: of all, or of those that a condition matches.
import { type RawBuilder, sql } from 'kysely'
import type { Reads, Tx } from '../../platform/postgres/handles.ts'
import type { ListPage } from './scim-resource.pure.ts'

/** A table with the alias `s`, its primary key, and the columns to read, with the key as `id`. */
export type PageSource = {
  table: RawBuilder<unknown>
  key: RawBuilder<unknown>
  columns: RawBuilder<unknown>
}
export type FoundRows<Row> = { total: number; rows: Row[] }

/** Returns a page of all rows, in a fixed order, and their number. */
export function listRows<Row>(
  db: Reads,
  { table, key, columns }: PageSource,
  page: ListPage,
): Promise<FoundRows<Row>> {
  return runSearch(
    db,
    sql`
    select counted.total, page.* from (select count(*)::int as total from ${table} s) counted
    left join lateral (
      select ${columns} from ${table} s order by s.${key} offset ${page.startIndex - 1} limit ${page.count}
    ) page on true order by page.id`,
  )
}

/**
 * Returns a page of the rows that match, and the number of matches. Collects at most `maxRows` + 1 ids before it sorts them,
 * so that the planner chooses the index of the condition and not the order.
 */
export function searchRows<Row>(
  db: Reads,
  { table, key, columns }: PageSource,
  condition: RawBuilder<boolean>,
  { page, maxRows }: { page: ListPage; maxRows: number },
): Promise<FoundRows<Row>> {
  return runSearch(
    db,
    sql`
    with matches as materialized (select s.${key} as id from ${table} s where ${condition} limit ${maxRows + 1})
    select counted.total, page.* from (select count(*)::int as total from matches) counted
    left join lateral (
      select ${columns} from (
        select id from matches order by id offset ${page.startIndex - 1} limit ${page.count}
      ) chosen join ${table} s on s.${key} = chosen.id order by s.${key}
    ) page on true order by page.id`,
  )
}

async function runSearch<Row>(db: Reads, statement: RawBuilder<unknown>): Promise<FoundRows<Row>> {
  // Without a row on the page, the only row contains the number of matches and an id that is null.
  const rows = (await statement.execute(db)).rows as ({ total: number } & ({ id: string | null } & Row))[]
  return { total: rows[0]?.total ?? 0, rows: rows.filter(({ id }) => id !== null) }
}

/** Limits the time of the statements until the transaction ends. */
export async function limitStatementTime(tx: Tx, timeoutMs: number): Promise<void> {
  await sql`select set_config('statement_timeout', ${String(timeoutMs)}, true)`.execute(tx)
}
