// Defines evidence queries and builds their SQL statements.

export type EvidenceQuery = {
  name: string
  title: string
  /** The content of the rows, and known omissions. */
  description: string
  /** Requirements of well-known frameworks for which the rows are evidence. */
  controls: readonly string[]
  /** The columns in order, each with its SQL expression. */
  columns: Readonly<Record<string, string>>
  /** The SQL from `from` to `where`, and `group by` if needed. $1 is the start and $2 the end of the window. */
  source: string
  /**
   * The order, which determines the rows to keep if there are too many. Its columns must identify each row uniquely.
   */
  orderBy: string
}

/** Returns the SQL statement of a query. $3 is the maximum number of rows. */
export const buildEvidenceStatement = ({ columns, source, orderBy }: EvidenceQuery): string =>
  `select ${Object.entries(columns)
    .map(([name, expression]) => `${expression} as ${name}`)
    .join(', ')} ${source} order by ${orderBy} limit $3`

/** Returns the queries by name. Throws if two queries have the same name. */
export function indexByName(queries: readonly EvidenceQuery[]): ReadonlyMap<string, EvidenceQuery> {
  const queriesByName = new Map<string, EvidenceQuery>()
  for (const query of queries) {
    if (queriesByName.has(query.name)) throw new Error(`duplicate evidence query name: ${query.name}`)
    queriesByName.set(query.name, query)
  }
  return queriesByName
}
