// An old installation, read in one snapshot on one connection: an import sees a single point in time.
import { Client } from 'pg'
import type { OldRows } from './rows.ts'
import { type FoundColumns, badKeysQuery, fingerprintQuery, rowsQuery, typesQuery } from './source-queries.ts'
import { type ViewName, viewNames, views } from './views.ts'

export type Fingerprints = Record<ViewName, { rows: number; fingerprint: string }>
export type Source = {
  fingerprints: Fingerprints
  /** The tenant types, and the number of tenants of each type. */
  types: readonly { type: string; tenants: number }[]
  /** Projects ordered by id. Their ids are the `project` of all other rows. */
  projects(): AsyncGenerator<OldRows['projects'], void, void>
  /** Opens a reader of a view. */
  read<View extends ViewName>(view: View): RowReader<OldRows[View]>
}
/** Rows of one view, ordered by project. Projects must be requested in the same order. */
export type RowReader<Row> = {
  /** Yields the rows of a project id. An empty string yields the rows without a project, which may be skipped. */
  of(projectId: string): AsyncGenerator<Row, void, void>
}
type Cursor<Row> = {
  /** Returns the next row, or undefined at the end. */
  peek: () => Promise<Row | undefined>
  pass: () => void
}

const fetchRows = 500
/** Smaller batches for views whose rows may be large. */
const fetchFew: Partial<Record<ViewName, number>> = { settings: 50, endpoints: 50, pilets: 1 }

const session = [
  // Fixed values, so that texts and fingerprints do not depend on the settings of a role.
  `set timezone = 'UTC'`,
  `set datestyle = 'ISO'`,
  `set bytea_output = 'hex'`,
  `set extra_float_digits = 1`,
  // Views have no statistics: the planner would expect few rows and choose nested loops, which are slow with many rows.
  'set enable_nestloop = off',
  'set jit = off',
  `set work_mem = '64MB'`,
  'begin isolation level repeatable read read only',
]

/** Reads an old installation. Rejects missing or ambiguous views. */
export async function withSource<T>(url: string, work: (source: Source) => Promise<T>): Promise<T> {
  const client = await connect(url)
  try {
    for (const statement of session) await client.query(statement)
    return await work(await open(client))
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
    throw new Error(`cannot connect to the old database (${code}): check host, database and role in --from`, {
      cause,
    })
  }
}

async function open(client: Client): Promise<Source> {
  const found = await findColumns(client)
  await assertKeys(client, found)
  const fingerprints = {} as Fingerprints
  for (const view of viewNames) {
    const { rows } = await client.query<Fingerprints[ViewName]>(fingerprintQuery(view, found))
    fingerprints[view] = rows[0] ?? { rows: 0, fingerprint: '0' }
  }
  const types = await client.query<{ type: string; tenants: number }>(typesQuery(found))
  let cursors = 0
  const openCursor = <View extends ViewName>(view: View) =>
    createCursor<OldRows[View]>(
      client,
      `legacy_${view}_${++cursors}`,
      rowsQuery(view, found),
      fetchFew[view] ?? fetchRows,
    )
  return {
    fingerprints,
    types: types.rows,
    projects: () => takeWhile(openCursor('projects'), () => true),
    read: (view) => createReader(openCursor(view)),
  }
}

async function findColumns(client: Client): Promise<FoundColumns> {
  const { rows } = await client.query<{ view: ViewName; name: string }>(
    `select c.relname as view, a.attname as name from pg_attribute a join pg_class c on c.oid = a.attrelid
     where c.relnamespace = to_regnamespace('legacy') and a.attnum > 0 and not a.attisdropped`,
  )
  const found = new Map(viewNames.map((view) => [view, new Set<string>()]))
  for (const { view, name } of rows) found.get(view)?.add(name)
  const missing = viewNames.flatMap((view) => {
    const names = found.get(view) ?? new Set()
    if (names.size === 0) return [`legacy.${view}`]
    return Object.entries(views[view].columns)
      .filter(([name, { required }]) => required === true && !names.has(name))
      .map(([name]) => `legacy.${view}.${name}`)
  })
  if (missing.length > 0)
    throw new Error(
      `the old database lacks ${missing.join(', ')}; create these views there (docs/guides/operators/migrate-from-an-older-installation.md has an example) and grant the role of --from access to them`,
    )
  return found
}

/** Rejects rows without a unique key, because they cannot be accounted for. */
async function assertKeys(client: Client, found: FoundColumns): Promise<void> {
  for (const view of viewNames) {
    const { rows } = await client.query<{ key: string }>(badKeysQuery(view, found))
    if (rows.length > 0)
      throw new Error(
        `legacy.${view} has rows whose id is missing, not unique or longer than 1,000 bytes, such as ${rows.map(({ key }) => JSON.stringify(key.slice(0, 100))).join(', ')}; correct the view`,
      )
  }
}

function createCursor<Row>(client: Client, name: string, query: string, batchSize: number): Cursor<Row> {
  let batch: Row[] = []
  let next = 0
  let state: 'new' | 'open' | 'done' = 'new'
  return {
    peek: async () => {
      if (next >= batch.length && state !== 'done') {
        if (state === 'new') await client.query(`declare ${name} no scroll cursor for ${query}`)
        state = 'open'
        const { rows } = await client.query<Row & Record<string, unknown>>(`fetch ${batchSize} from ${name}`)
        ;[batch, next] = [rows, 0]
        if (rows.length === 0) {
          state = 'done'
          await client.query(`close ${name}`)
        }
      }
      return batch[next]
    },
    pass: () => void next++,
  }
}

const createReader = <Row extends { project: string }>(cursor: Cursor<Row>): RowReader<Row> => ({
  async *of(projectId) {
    // Rows without a project come first.
    if (projectId !== '') while ((await cursor.peek())?.project === '') cursor.pass()
    yield* takeWhile(cursor, (row) => row.project === projectId)
  },
})

async function* takeWhile<Row>(
  { peek, pass }: Cursor<Row>,
  isWanted: (row: Row) => boolean,
): AsyncGenerator<Row, void, void> {
  for (let row = await peek(); row !== undefined && isWanted(row); row = await peek()) {
    pass()
    yield row
  }
}
