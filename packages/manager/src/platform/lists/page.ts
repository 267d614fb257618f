// Runs list queries: a checked page (filters, order, limit, offset) over one table, for one list or for the same list
// under many parents at once.
import { type RawBuilder, type Selectable, sql } from 'kysely'
import type { DB } from '../../generated/db.ts'
import type { Reads } from '../postgres/handles.ts'
import { type Page, containsPattern } from './filters.ts'

type Table = keyof DB
export type PageQuery<T extends Table, C extends keyof DB[T] & string> = {
  table: T
  columns: readonly C[]
  page: Page
  /** A further condition, for example what the caller may see. */
  where?: RawBuilder<boolean>
}
type Row<T extends Table, C extends keyof DB[T] & string> = Pick<
  Selectable<DB[T]>,
  C & keyof Selectable<DB[T]>
>

/** One page of a table. Ties are broken by id, so that pages neither repeat nor skip a row. */
export async function pageOf<T extends Table, C extends keyof DB[T] & string>(
  db: Reads,
  query: PageQuery<T, C>,
): Promise<Row<T, C>[]> {
  const { rows } = await selectPage(query, query.where ?? sql<boolean>`true`).execute(db)
  return rows as Row<T, C>[]
}

/** The same page under each of many parents, in one statement: cost grows with the rows returned. */
export async function pagesOf<T extends Table, C extends keyof DB[T] & string>(
  db: Reads,
  query: PageQuery<T, C> & { parent: C; parentIds: readonly string[] },
): Promise<Row<T, C>[]> {
  const own = sql<boolean>`${sql.ref(`${query.table}.${query.parent}`)} = wanted.parent_id`
  const condition = query.where === undefined ? own : sql<boolean>`${own} and ${query.where}`
  const { rows } = await sql`
    select page.* from unnest(${query.parentIds}::uuid[]) as wanted (parent_id)
    cross join lateral (${selectPage(query, condition)}) as page`.execute(db)
  return rows as Row<T, C>[]
}

function selectPage<T extends Table, C extends keyof DB[T] & string>(
  { table, columns, page }: PageQuery<T, C>,
  where: RawBuilder<boolean>,
): RawBuilder<unknown> {
  const ref = columnsOf(table)
  return sql`
    select ${sql.join(columns.map(ref))} from ${sql.table(table)}
    where ${where} ${filterSql(page, ref)}
    order by ${orderSql(page, ref)} limit ${page.limit} offset ${page.offset}`
}

/** How many rows all pages of this list have. */
export async function countOf(
  db: Reads,
  { table, page, where }: { table: Table; page: Page; where: RawBuilder<boolean> },
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from ${sql.table(table)}
    where ${where} ${filterSql(page, columnsOf(table))}`.execute(db)
  return rows[0]?.count ?? 0
}

// Columns come from the feature's own lists, never from the caller.
type Columns = (column: string) => RawBuilder<unknown>

/** The columns of a table, or of what stands for it in a statement. */
export const columnsOf =
  (table: string): Columns =>
  (column) =>
    sql.ref(`${table}.${column}`)

/** The filters of a page, each after an `and`. */
export function filterSql({ filters }: Page, ref: Columns): RawBuilder<unknown> {
  const conditions = filters.map(({ column, match, value }) =>
    match === 'text'
      ? sql`and ${ref(column)} ilike ${containsPattern(value)}`
      : sql`and ${ref(column)} = ${value}`,
  )
  return sql.join(conditions, sql` `)
}

/** The order of a page; ties are broken by id. */
export function orderSql({ order }: Page, ref: Columns): RawBuilder<unknown> {
  const columns = order.map(({ column, direction }) => sql`${ref(column)} ${sql.raw(direction)},`)
  return sql`${sql.join(columns, sql` `)} ${ref('id')}`
}
