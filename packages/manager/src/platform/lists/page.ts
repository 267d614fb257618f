// Runs list queries: a validated page (filters, order, limit, offset) of one table. One statement can return the same
// list for many parents.
import { type RawBuilder, type Selectable, sql } from 'kysely'
import type { DB } from '../../generated/db.ts'
import type { Reads } from '../postgres/handles.ts'
import { type Page, createContainsPattern } from './filters.ts'

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

/** Returns one page of a table. Ties are broken by id, so that pages neither repeat nor skip a row. */
export async function fetchPage<T extends Table, C extends keyof DB[T] & string>(
  db: Reads,
  query: PageQuery<T, C>,
): Promise<Row<T, C>[]> {
  const { rows } = await selectPage(query, query.where ?? sql<boolean>`true`).execute(db)
  return rows as Row<T, C>[]
}

/** Returns the same page under each of many parents, in one statement. The cost grows with the rows returned. */
export async function fetchPages<T extends Table, C extends keyof DB[T] & string>(
  db: Reads,
  query: PageQuery<T, C> & { parent: C; parentIds: readonly string[] },
): Promise<Row<T, C>[]> {
  const parentCondition = sql<boolean>`${sql.ref(`${query.table}.${query.parent}`)} = wanted.parent_id`
  const condition =
    query.where === undefined ? parentCondition : sql<boolean>`${parentCondition} and ${query.where}`
  const { rows } = await sql`
    select page.* from unnest(${query.parentIds}::uuid[]) as wanted (parent_id)
    cross join lateral (${selectPage(query, condition)}) as page`.execute(db)
  return rows as Row<T, C>[]
}

function selectPage<T extends Table, C extends keyof DB[T] & string>(
  { table, columns, page }: PageQuery<T, C>,
  where: RawBuilder<boolean>,
): RawBuilder<unknown> {
  const ref = createColumnQualifier(table)
  return sql`
    select ${sql.join(columns.map(ref))} from ${sql.table(table)}
    where ${where} ${createFilterSql(page, ref)}
    order by ${createOrderSql(page, ref)} limit ${page.limit} offset ${page.offset}`
}

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

// Column names come from the field lists of the feature, never from the caller.
type QualifyColumn = (column: string) => RawBuilder<unknown>

/** Returns a function that qualifies column names with a table name or alias. */
export const createColumnQualifier =
  (table: string): QualifyColumn =>
  (column) =>
    sql.ref(`${table}.${column}`)

/** Returns the filter conditions of a page, each preceded by `and`. */
export function createFilterSql({ filters }: Page, ref: QualifyColumn): RawBuilder<unknown> {
  const conditions = filters.map(({ column, match, value }) =>
    match === 'text'
      ? sql`and ${ref(column)} ilike ${createContainsPattern(value)}`
      : sql`and ${ref(column)} = ${value}`,
  )
  return sql.join(conditions, sql` `)
}

/** Returns the `order by` columns of a page; ties are broken by id. */
export function createOrderSql({ order }: Page, ref: QualifyColumn): RawBuilder<unknown> {
  const columns = order.map(({ column, direction }) => sql`${ref(column)} ${sql.raw(direction)},`)
  return sql`${sql.join(columns, sql` `)} ${ref('id')}`
}
