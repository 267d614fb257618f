// Counts failed authentications and client blocks by minute, kind and client, as audit evidence. Counting is an
// increment in memory; every 5 s one statement adds the counts to the database. A flood therefore costs rows per
// minute, not per attempt: at most 1,000 clients per kind and minute have a row, and `others` counts the rest.
import type { Clock } from '../clock.ts'
import type { Database } from '../postgres/database.ts'
import { isWithoutPartition, preparePartitions } from '../postgres/partitions.ts'
import type { Run } from '../postgres/prepared.ts'
import type { Statement } from '../postgres/statements.ts'
import type { Logger } from '../log/log.ts'
import type { Metrics } from '../metrics.ts'

/** Kinds of failed authentication. The list is closed: evidence and its documentation name the kinds. */
export const failureKinds = [
  'proxy_secret',
  'proxy_secret_unset',
  'identity',
  'pat',
  'machine_token',
  'basic',
  'unknown_scheme',
  'cli_code',
  'scim_token',
] as const
/** The kind of authentication that failed. */
export type FailureKind = (typeof failureKinds)[number]

/** Counts failed authentications and lockouts. */
export type AuthFailures = {
  /** Counts a failed authentication of a client in this network. */
  fail(kind: FailureKind, network: string): void
  /** Counts a block that a throttle started. */
  lockout(throttle: string, client: string, blockMs: number): void
  /** Adds the counts to the database; counts that cannot be written are kept for the next flush. */
  flush(): Promise<void>
  close(): Promise<void>
}
type Row = {
  minute: number
  event: 'failure' | 'lockout'
  kind: string
  client: string
  count: number
  blockMs: number
}
type Deps = {
  database: Pick<Database, 'db' | 'runInBackground'>
  clock: Clock
  log: Logger
  metrics: Pick<Metrics, 'authFailuresDropped'>
}

const flushEveryMs = 5_000
const minuteMs = 60_000
const maxClients = 1_000
// While the database is unreachable, a flood from few clients reaches this limit after about an hour, and
// a flood from many clients after minutes.
const maxWaitingRows = 20_000
const rowsPerStatement = 2_000
const maxClientLength = 100

/** Creates the counters, one set per process; `close` writes the remaining counts. */
export function createAuthFailures({ database, clock, log, metrics }: Deps): AuthFailures {
  let waitingRows = new Map<string, Row>()
  const clientNames = createClientNames()
  let runningFlush: Promise<void> | null = null

  const add = (row: Row): void => {
    const key = `${row.minute} ${row.event} ${row.kind} ${row.client}`
    const existingRow = waitingRows.get(key)
    if (existingRow !== undefined) {
      existingRow.count += row.count
      existingRow.blockMs = Math.max(existingRow.blockMs, row.blockMs)
    } else if (waitingRows.size < maxWaitingRows) waitingRows.set(key, row)
    else metrics.authFailuresDropped.inc(row.count)
  }
  const record = (event: Row['event'], kind: string, client: string, blockMs: number): void => {
    const minute = Math.floor(clock.now().getTime() / minuteMs)
    add({
      minute,
      event,
      kind,
      client: clientNames.nameOf(minute, `${event} ${kind}`, client),
      count: 1,
      blockMs,
    })
  }
  const write = async (): Promise<void> => {
    const rows = [...waitingRows.values()]
    waitingRows = new Map()
    for (let from = 0; from < rows.length; from += rowsPerStatement)
      try {
        const rejectedRows = await addRows(database, rows.slice(from, from + rowsPerStatement))
        if (rejectedRows.length === 0) continue
        metrics.authFailuresDropped.inc(rejectedRows.reduce((sum, { count }) => sum + count, 0))
        log.warn(
          { rows: rejectedRows.length },
          'dropped failed authentications with an implausible timestamp',
        )
      } catch (error) {
        log.warn({ err: error, rows: rows.length - from }, 'cannot record failed authentications')
        for (const row of rows.slice(from)) add(row)
        return
      }
  }
  /** Only one flush runs at a time: a hanging database receives one statement, and later counts wait. */
  const flush = (): Promise<void> => (runningFlush ??= write().finally(() => (runningFlush = null)))
  const timer = setInterval(() => void flush(), flushEveryMs)
  timer.unref()
  return {
    fail: (kind, network) => record('failure', kind, network, 0),
    lockout: (throttle, client, blockMs) => record('lockout', throttle, client, blockMs),
    flush,
    close: async () => {
      clearInterval(timer)
      await runningFlush
      await flush()
    },
  }
}

/** Names the first 1,000 clients of a kind in a minute individually; all further clients are named `others`. */
function createClientNames() {
  let currentMinute = 0
  const clientsByKind = new Map<string, Set<string>>()
  return {
    nameOf: (minute: number, kind: string, client: string): string => {
      if (minute !== currentMinute) {
        clientsByKind.clear()
        currentMinute = minute
      }
      const clients = clientsByKind.get(kind) ?? new Set()
      clientsByKind.set(kind, clients)
      const name = client === '' ? 'unknown' : client.slice(0, maxClientLength)
      if (clients.has(name)) return name
      if (clients.size >= maxClients) return 'others'
      clients.add(name)
      return name
    },
  }
}

// The bounds are minutes since 1970. Partitions always exist for times within one day of now, even at the end of a
// month.
const partitionRangeStatement: Statement = {
  kind: 'read',
  text: `
  select extract(epoch from now() - interval '1 day')::float8 / 60 as from,
    extract(epoch from now() + interval '1 hour')::float8 / 60 as to`,
}

// Rows are inserted in key order, so that two processes that add to the same rows cannot deadlock.
const addStatement: Statement = {
  kind: 'write',
  text: `
  insert into auth_failures (minute, event, kind, client, count, longest_block_ms)
  select * from unnest($1::timestamptz[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[])
    as counted (minute, event, kind, client, count, longest_block_ms)
  order by minute, event, kind, client
  on conflict (minute, event, kind, client) do update set
    count = auth_failures.count + excluded.count,
    longest_block_ms = greatest(auth_failures.longest_block_ms, excluded.longest_block_ms)`,
}

/**
 * Adds the rows except those that no partition accepts because their minute is far from the database time. A clock
 * that was briefly wrong thus does not block other rows. Returns the rejected rows; throws if no row was added.
 */
async function addRows(
  { db, runInBackground: run }: Deps['database'],
  rows: readonly Row[],
): Promise<readonly Row[]> {
  if (await tryInsertRows(run, rows)) return []
  // A partition is missing if no process has created partitions for months.
  await preparePartitions(db.idempotent, 'auth_failures').catch(() => undefined)
  if (await tryInsertRows(run, rows)) return []
  const hasPartition = await createPartitionCheck(run)
  const insertableRows = rows.filter(hasPartition)
  if (insertableRows.length > 0) await insertRows(run, insertableRows)
  return rows.filter((row) => !hasPartition(row))
}

/** Returns false if a partition is missing. */
const tryInsertRows = (run: Run, rows: readonly Row[]): Promise<boolean> =>
  insertRows(run, rows).then(
    () => true,
    (error: unknown) => {
      if (isWithoutPartition(error)) return false
      throw error
    },
  )

async function createPartitionCheck(run: Run): Promise<(row: Row) => boolean> {
  const [row] = await run<{ from: number; to: number }>(partitionRangeStatement, [])
  const { from, to } = row as { from: number; to: number }
  return ({ minute }) => minute >= from && minute <= to
}

async function insertRows(run: Run, rows: readonly Row[]): Promise<void> {
  const values = [
    rows.map(({ minute }) => new Date(minute * minuteMs).toISOString()),
    rows.map(({ event }) => event),
    rows.map(({ kind }) => kind),
    rows.map(({ client }) => client),
    rows.map(({ count }) => count),
    rows.map(({ blockMs }) => Math.round(blockMs)),
  ]
  await run(addStatement, values)
}
