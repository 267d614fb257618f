// What an evidence query is, and the statement that runs it.

export type EvidenceQuery = {
  name: string
  title: string
  /** What the rows are, and what is not among them. */
  description: string
  /** Requirements of well-known frameworks for which the rows are evidence. */
  controls: readonly string[]
  /** The columns in their order, each with the SQL that makes it. */
  columns: Readonly<Record<string, string>>
  /** From `from` to `where`, and `group by` if need be; $1 and $2 are the beginning and the end of the window. */
  source: string
  /** What comes first when there are too many rows; it tells all rows apart. */
  orderBy: string
}

/** The statement of a query; $3 is the most rows it returns. */
export const statementOf = ({ columns, source, orderBy }: EvidenceQuery): string =>
  `select ${Object.entries(columns)
    .map(([name, expression]) => `${expression} as ${name}`)
    .join(', ')} ${source} order by ${orderBy} limit $3`

/** The queries by name; throws when two have the same. */
export function byName(queries: readonly EvidenceQuery[]): ReadonlyMap<string, EvidenceQuery> {
  const found = new Map<string, EvidenceQuery>()
  for (const query of queries) {
    if (found.has(query.name)) throw new Error(`two evidence queries are called ${query.name}`)
    found.set(query.name, query)
  }
  return found
}
