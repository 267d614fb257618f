// Reads an old installation in one snapshot on one connection, so that an import sees a single point in time.
import { Client } from 'pg'
import type { OldRows } from './rows.ts'
import {
  type ViewColumns,
  buildBadKeysQuery,
  buildFingerprintQuery,
  buildRowsQuery,
  buildTypesQuery,
} from './source-queries.ts'
import { type ViewName, viewNames, views } from './views.ts'

export type Fingerprints = Record<ViewName, { rows: number; fingerprint: string }>
export type Source = {
  fingerprints: Fingerprints
  /** The tenant types, and the number of tenants of each type. */
  types: readonly { type: string; tenants: number }[]
  /** Yields projects ordered by id. In all other rows, `project` is one of these ids, or empty. */
  projects(): AsyncGenerator<OldRows['projects'], void, void>
  /** Opens a reader for a view. */
  read<View extends ViewName>(view: View): RowReader<OldRows[View]>
}
/** Reads the rows of one view, ordered by project. The caller must request projects in the same order. */
export type RowReader<Row> = {
  /**
   * Yields the rows of a project. An empty id yields the rows without a project, which the caller may skip.
   */
  of(projectId: string): AsyncGenerator<Row, void, void>
}
type Cursor<Row> = {
  /** Returns the next row, or undefined at the end. */
  peek: () => Promise<Row | undefined>
  skip: () => void
}

const fetchRows = 500
/** If the rows of a view may be large, they are read in smaller batches. */
const smallFetchRows: Partial<Record<ViewName, number>> = { settings: 50, endpoints: 50, pilets: 1 }

const sessionStatements = [
  // Fixed values, so that text formats and fingerprints do not depend on role settings.
  `set timezone = 'UTC'`,
  `set datestyle = 'ISO'`,
  `set bytea_output = 'hex'`,
  `set extra_float_digits = 1`,
  // Views have no statistics. The planner would expect few rows and choose nested loops, which are slow with
  // many rows.
  'set enable_nestloop = off',
  'set jit = off',
  `set work_mem = '64MB'`,
  'begin isolation level repeatable read read only',
]

/** Opens an old installation for `work`. Throws if views are missing or ambiguous. */
export async function withSource<T>(url: string, work: (source: Source) => Promise<T>): Promise<T> {
  const client = await connect(url)
  try {
    for (const statement of sessionStatements) await client.query(statement)
    return await work(await openSource(client))
  } finally {
    await client.end()
  }
}

async function connect(url: string): Promise<Client> {
  const client = new Client({
    connectionString: url,
    application_name: 'manager-legacy-import',
    connectionTimeoutMillis: 5_000,
  })
  try {
    await client.connect()
    return client
  } catch (cause) {
    const { code = 'timeout' } = cause as { code?: string }
    throw new Error(
      `cannot connect to the old database (${code}): check the host, database and role in --from`,
      {
        cause,
      },
    )
  }
}

async function openSource(client: Client): Promise<Source> {
  const columns = await findColumns(client)
  await assertKeys(client, columns)
  const fingerprints = {} as Fingerprints
  for (const view of viewNames) {
    const { rows } = await client.query<Fingerprints[ViewName]>(buildFingerprintQuery(view, columns))
    fingerprints[view] = rows[0] ?? { rows: 0, fingerprint: '0' }
  }
  const types = await client.query<{ type: string; tenants: number }>(buildTypesQuery(columns))
  let cursors = 0
  const openCursor = <View extends ViewName>(view: View) =>
    createCursor<OldRows[View]>(
      client,
      `legacy_${view}_${++cursors}`,
      buildRowsQuery(view, columns),
      smallFetchRows[view] ?? fetchRows,
    )
  return {
    fingerprints,
    types: types.rows,
    projects: () => takeWhile(openCursor('projects'), () => true),
    read: (view) => createReader(openCursor(view)),
  }
}

async function findColumns(client: Client): Promise<ViewColumns> {
  const { rows } = await client.query<{ view: ViewName; name: string }>(
    `select c.relname as view, a.attname as name from pg_attribute a join pg_class c on c.oid = a.attrelid
     where c.relnamespace = to_regnamespace('legacy') and a.attnum > 0 and not a.attisdropped`,
  )
  const columns = new Map(viewNames.map((view) => [view, new Set<string>()]))
  for (const { view, name } of rows) columns.get(view)?.add(name)
  const missingNames = viewNames.flatMap((view) => {
    const names = columns.get(view) ?? new Set()
    if (names.size === 0) return [`legacy.${view}`]
    return Object.entries(views[view].columns)
      .filter(([name, { required }]) => required === true && !names.has(name))
      .map(([name]) => `legacy.${view}.${name}`)
  })
  if (missingNames.length > 0)
    throw new Error(
      `the old database lacks ${missingNames.join(', ')}; create these views or columns (docs/guides/operators/migrate-from-an-older-installation.md has an example) and grant the role of --from access to them`,
    )
  return columns
}

/** Rejects rows without a unique key, because they cannot be accounted for. */
async function assertKeys(client: Client, columns: ViewColumns): Promise<void> {
  for (const view of viewNames) {
    const { rows } = await client.query<{ key: string }>(buildBadKeysQuery(view, columns))
    if (rows.length > 0)
      throw new Error(
        `legacy.${view} has rows whose id is missing, not unique or longer than 1,000 bytes, such as ${rows.map(({ key }) => JSON.stringify(key.slice(0, 100))).join(', ')}; correct the view`,
      )
  }
}

function createCursor<Row>(client: Client, name: string, query: string, batchSize: number): Cursor<Row> {
  let batch: Row[] = []
  let nextIndex = 0
  let state: 'new' | 'open' | 'done' = 'new'
  return {
    peek: async () => {
      if (nextIndex >= batch.length && state !== 'done') {
        if (state === 'new') await client.query(`declare ${name} no scroll cursor for ${query}`)
        state = 'open'
        const { rows } = await client.query<Row & Record<string, unknown>>(`fetch ${batchSize} from ${name}`)
        ;[batch, nextIndex] = [rows, 0]
        if (rows.length === 0) {
          state = 'done'
          await client.query(`close ${name}`)
        }
      }
      return batch[nextIndex]
    },
    skip: () => void nextIndex++,
  }
}

const createReader = <Row extends { project: string }>(cursor: Cursor<Row>): RowReader<Row> => ({
  async *of(projectId) {
    // Rows without a project come first.
    if (projectId !== '') while ((await cursor.peek())?.project === '') cursor.skip()
    yield* takeWhile(cursor, (row) => row.project === projectId)
  },
})

async function* takeWhile<Row>(
  { peek, skip }: Cursor<Row>,
  isWanted: (row: Row) => boolean,
): AsyncGenerator<Row, void, void> {
  for (let row = await peek(); row !== undefined && isWanted(row); row = await peek()) {
    skip()
    yield row
  }
}
