// Runs list queries: a checked page (filters, order, limit, offset) over one table, for one list or for the same list
// under many parents at once.
import { type RawBuilder, type Selectable, sql } from 'kysely'
import type { DB } from '../../generated/db.ts'
import type { Db, Tx } from '../db/database.ts'
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
  db: Db | Tx,
  query: PageQuery<T, C>,
): Promise<Row<T, C>[]> {
  const { rows } = await selectPage(query, query.where ?? sql<boolean>`true`).execute(db)
  return rows as Row<T, C>[]
}

/** The same page under each of many parents, in one statement: cost grows with the rows returned. */
export async function pagesOf<T extends Table, C extends keyof DB[T] & string>(
  db: Db | Tx,
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
  // Columns come from the feature's own lists, never from the caller.
  const ref = (column: string): RawBuilder<unknown> => sql.ref(`${table}.${column}`)
  const conditions = page.filters.map(({ column, match, value }) =>
    match === 'text'
      ? sql`and ${ref(column)} ilike ${containsPattern(value)}`
      : sql`and ${ref(column)} = ${value}`,
  )
  const order = page.order.map(({ column, direction }) => sql`${ref(column)} ${sql.raw(direction)},`)
  return sql`
    select ${sql.join(columns.map(ref))} from ${sql.table(table)}
    where ${where} ${sql.join(conditions, sql` `)}
    order by ${sql.join(order, sql` `)} ${ref('id')} limit ${page.limit} offset ${page.offset}`
}
