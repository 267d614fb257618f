// Runs list queries, each for a validated page (filters, order, limit, offset or cursor) of one table. One statement
// can return the same list for many parents.
import { type RawBuilder, type Selectable, sql } from 'kysely'
import type { DB } from '../../generated/db.ts'
import type { Reads } from '../postgres/handles.ts'
import { runWithCursor } from './cursor.ts'
import { type Page, createContainsPattern } from './filters.ts'
import {
  type QualifyColumn,
  createAfterSql,
  createColumnQualifier,
  createColumnSql,
  createCursorSql,
  createOrderSql,
} from './position.ts'

type Table = keyof DB
/** A page of a table and the columns to select. */
export type PageQuery<T extends Table, C extends keyof DB[T] & string> = {
  table: T
  columns: readonly C[]
  page: Page
  /** An additional condition, for example which rows the caller may see. */
  where?: RawBuilder<boolean>
}
type Row<T extends Table, C extends keyof DB[T] & string> = Pick<
  Selectable<DB[T]>,
  C & keyof Selectable<DB[T]>
>

/** The values that a connection reads in addition to the columns of a row. */
export type ListedRow = { listCursor: string; listTotal?: number }

/** Counting stops at this number of rows. */
const maxCountedRows = 10_001

/** Returns one page of a table. Ties are broken by id, so that pages neither repeat nor skip rows. */
export async function fetchPage<T extends Table, C extends keyof DB[T] & string>(
  db: Reads,
  query: PageQuery<T, C>,
): Promise<Row<T, C>[]> {
  return (await runPage(db, query.page, selectPage(query, query.where ?? sql<boolean>`true`))) as Row<T, C>[]
}

const runPage = (db: Reads, { reading }: Page, statement: RawBuilder<unknown>): Promise<unknown[]> =>
  runWithCursor(typeof reading.after === 'string', async () => (await statement.execute(db)).rows)

/**
 * Returns the same page for each of many parents, in one statement. The cost grows with the number of returned rows.
 */
export async function fetchPages<T extends Table, C extends keyof DB[T] & string>(
  db: Reads,
  query: PageQuery<T, C> & { parent: C; parentIds: readonly string[] },
): Promise<Row<T, C>[]> {
  const { parentIds, page } = query
  const parent = sql.ref(`${query.table}.${query.parent}`)
  const combine = (condition: RawBuilder<boolean>): RawBuilder<boolean> =>
    query.where === undefined ? condition : sql<boolean>`${condition} and ${query.where}`
  // With plain equality, the planner knows how many rows this parent has. The join in the other branch hides that.
  const statement =
    parentIds.length === 1
      ? selectPage(query, combine(sql<boolean>`${parent} = ${parentIds[0]}`))
      : sql`
        select page.* from unnest(${parentIds}::uuid[]) as wanted (parent_id)
        cross join lateral (${selectPage(query, combine(sql<boolean>`${parent} = wanted.parent_id`))}) as page`
  return (await runPage(db, page, statement)) as Row<T, C>[]
}

function selectPage<T extends Table, C extends keyof DB[T] & string>(
  { table, columns, page }: PageQuery<T, C>,
  where: RawBuilder<boolean>,
): RawBuilder<unknown> {
  const ref = createColumnQualifier(table)
  const condition = sql`${where} ${createFilterSql(page, ref)}`
  const selectedColumns = [
    ...columns.map(ref),
    ...(page.reading.hasCursors === true ? [sql`${createCursorSql(page, ref)} as list_cursor`] : []),
    ...(page.reading.hasTotal === true
      ? [sql`(${createCountSql(maxCountedRows, table, condition)}) as list_total`]
      : []),
  ]
  return sql`
    select ${sql.join(selectedColumns)} from ${sql.table(table)}
    where ${condition} ${createAfterSql(page, ref)}
    order by ${createOrderSql(page, ref)} limit ${page.limit} offset ${page.offset}`
}

const createCountSql = (limit: number, table: Table, condition: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`select count(*)::int from (select 1 from ${sql.table(table)} where ${condition} limit ${limit}) as counted`

/** Returns the number of rows on all pages of the list. */
export async function countRows(
  db: Reads,
  { table, page, where }: { table: Table; page: Page; where: RawBuilder<boolean> },
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from ${sql.table(table)}
    where ${where} ${createFilterSql(page, createColumnQualifier(table))}`.execute(db)
  return rows[0]?.count ?? 0
}

/** Returns the filter conditions of a page, each preceded by `and`. */
export function createFilterSql({ filters }: Page, ref: QualifyColumn): RawBuilder<unknown> {
  const conditions = filters.map(({ match, value, ...column }) =>
    match === 'text'
      ? sql`and ${createColumnSql(column, ref)} ilike ${createContainsPattern(value)}`
      : sql`and ${createColumnSql(column, ref)} = ${value}`,
  )
  return sql.join(conditions, sql` `)
}
