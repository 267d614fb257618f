// An old install, read in one snapshot on one connection: whatever happens to it meanwhile, an import sees one moment.
import { Client } from 'pg'
import type { OldRows } from './rows.ts'
import { type FoundColumns, badKeysQuery, fingerprintQuery, rowsQuery, typesQuery } from './source-queries.ts'
import { type ViewName, viewNames, views } from './views.ts'

export type Fingerprints = Record<ViewName, { rows: number; fingerprint: string }>
export type Source = {
  fingerprints: Fingerprints
  /** The types of tenants, and how many tenants have each. */
  types: readonly { type: string; tenants: number }[]
  /** Projects in the order of their ids, which are the places of all other rows. */
  projects(): AsyncGenerator<OldRows['projects'], void, void>
  /** Opens a reader of a view. */
  read<View extends ViewName>(view: View): RowReader<OldRows[View]>
}
/** Rows of one view in the order of their places. Places are asked for in that order too. */
export type RowReader<Row> = {
  /** The rows of this place: the id of a project, or an empty text for rows of none, which need not be asked for. */
  of(place: string): AsyncGenerator<Row, void, void>
}
type Cursor<Row> = {
  /** The row to come, or undefined at the end. */
  peek: () => Promise<Row | undefined>
  pass: () => void
}

const fetchRows = 500
/** Of views whose rows may be large. */
const fetchFew: Partial<Record<ViewName, number>> = { settings: 50, endpoints: 50, pilets: 1 }

const session = [
  // Fixed, so that texts and fingerprints do not depend on the settings of a role.
  `set timezone = 'UTC'`,
  `set datestyle = 'ISO'`,
  `set bytea_output = 'hex'`,
  `set extra_float_digits = 1`,
  // Nothing is known of the columns of a view: a join in loops would be chosen for few rows and run with many.
  'set enable_nestloop = off',
  'set jit = off',
  `set work_mem = '64MB'`,
  'begin isolation level repeatable read read only',
]

/** Reads an old install; refuses one whose views are missing or ambiguous. */
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
    throw new Error(
      `the old database cannot be read (${code}): check that --from names its host, its database, and a role that may log in there`,
      { cause },
    )
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
      `the old database lacks ${missing.join(', ')}; make these views there (docs/guides/operators/migrate-from-an-older-installation.md has an example), and let the role of --from read them`,
    )
  return found
}

/** What is not told apart cannot be accounted for. */
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

const createReader = <Row extends { place: string }>(cursor: Cursor<Row>): RowReader<Row> => ({
  async *of(place) {
    // Rows of no project come first.
    if (place !== '') while ((await cursor.peek())?.place === '') cursor.pass()
    yield* takeWhile(cursor, (row) => row.place === place)
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
