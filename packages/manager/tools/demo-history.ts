// Writes the history of the demo: a month of logged calls, trigger runs and notifications, with their counts. The API
// cannot create rows with past timestamps, so this tool inserts them with SQL, as if the service had run for a month.
// The audit trail has no such rows: it starts with the first start of the demo.
import { sql } from 'kysely'
import { countCalls } from '../src/features/call-log/call-counts-roll-up.store.ts'
import { countRuns } from '../src/features/triggers/run-counts-roll-up.store.ts'
import { silentLog } from '../src/commands/context.ts'
import { type Database, createDatabase } from '../src/platform/postgres/database.ts'
import type { Tx } from '../src/platform/postgres/handles.ts'
import { listCalls } from './demo-history-calls.ts'
import { listNotifications } from './demo-history-inbox.ts'
import { listRuns } from './demo-history-runs.ts'
import type { DemoShop } from './demo-data.ts'
import type { MachineIds } from './demo-data-machine.ts'
import type { Past } from './demo-past.ts'
import { machineUsers } from './demo-world.ts'

const days = 30
const batchSize = 2_000

/** Opens the database of the demo. */
export const openDemoDatabase = (url: string): Database =>
  createDatabase({
    url,
    poolSize: 2,
    statementTimeoutMs: 60_000,
    acquireTimeoutMs: 5_000,
    idleInTransactionTimeoutMs: 0,
    applicationName: 'manager-demo',
    log: silentLog,
  })

/**
 * Returns whether the demo history of the project exists. The transaction that writes the history also backdates the
 * credentials of machine users. A credential that is older than its project therefore proves that the history exists.
 */
export async function hasHistory({ db }: Database, projectId: string): Promise<boolean> {
  const row = await db.read
    .selectFrom('machineUsers')
    .innerJoin('projects', 'projects.id', 'machineUsers.projectId')
    .select('machineUsers.id')
    .where('projects.id', '=', projectId)
    .whereRef('machineUsers.createdAt', '<', 'projects.createdAt')
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Writes the history in one transaction. */
export async function writeHistory({ db }: Database, shop: DemoShop, ids: MachineIds): Promise<void> {
  await db.transaction(async (tx) => {
    const past = await lockPast(tx)
    await writeCalls(tx, shop, { ids, past })
    await writeRuns(tx, shop, { ids, past })
    await writeNotifications(tx, shop, past)
    await writeCredentialAges(tx, ids)
  })
}

/**
 * Locks the roll-ups, so that they cannot advance, and returns the time range before their progress, in which they
 * never count new rows. The range starts no earlier than the previous month, because earlier months have no partitions.
 */
async function lockPast(tx: Tx): Promise<Past> {
  const { rows } = await sql<{ from: string; until: string }>`
    with locked as (select counted_until from roll_ups for update)
    select min(counted_until) as until, greatest(
      date_trunc('hour', min(counted_until), 'UTC') - make_interval(days => ${days}),
      date_trunc('month', date_trunc('month', now(), 'UTC') - interval '1 day', 'UTC')) as from
    from locked`.execute(tx)
  const [past] = rows
  if (past === undefined) throw new Error('the database has no roll-ups')
  return { from: Date.parse(past.from), until: Date.parse(past.until) }
}

const toRange = ({ from, until }: Past) => ({
  from: new Date(from).toISOString(),
  until: new Date(until).toISOString(),
})

/** Runs the statement for each batch of rows, which it receives as JSON. */
async function insertRows(
  rows: readonly object[],
  insert: (json: string) => Promise<unknown>,
): Promise<void> {
  for (let start = 0; start < rows.length; start += batchSize)
    await insert(JSON.stringify(rows.slice(start, start + batchSize)))
}

type Plan = { ids: MachineIds; past: Past }

async function writeCalls(tx: Tx, shop: DemoShop, { ids, past }: Plan): Promise<void> {
  const calls = listCalls(shop, ids, past)
  const pairs = new Map(calls.map((call) => [call.endpoint_id + call.machine_user_id, call]))
  await sql`
    insert into esb_callers (endpoint_id, machine_user_id, project_id)
    select endpoint_id, machine_user_id, ${shop.project.id}::uuid
    from jsonb_to_recordset(${JSON.stringify([...pairs.values()])}::jsonb) as r (endpoint_id uuid, machine_user_id uuid)
    on conflict do nothing`.execute(tx)
  await insertRows(calls, (json) =>
    sql`
      insert into esb_audit_logs (id, created_at, endpoint_id, machine_user_id, source_ip, method, path, target_url,
        response_status, duration_ms, transformed, failure, request_headers, request_body, response_headers,
        response_body, request_id)
      select id, created_at, endpoint_id, machine_user_id, '127.0.0.1', method, path, target_url, response_status,
        duration_ms, transformed, failure, request_headers, request_body, response_headers, response_body, id::text
      from jsonb_to_recordset(${json}::jsonb) as r (id uuid, created_at timestamptz, endpoint_id uuid,
        machine_user_id uuid, method text, path text, target_url text, response_status integer, duration_ms integer,
        transformed boolean, failure text, request_headers jsonb, request_body text, response_headers jsonb,
        response_body text)`.execute(tx),
  )
  await countCalls(tx, toRange(past))
}

async function writeRuns(tx: Tx, shop: DemoShop, { ids, past }: Plan): Promise<void> {
  await insertRows(listRuns(shop, ids, past), (json) =>
    sql`
      insert into trigger_runs (id, scheduled_at, project_id, application_id, trigger_id, environment_id, trigger_name,
        cron_expression, run_key, outcome, attempts, starts, created_at, executed_at, finished_at, response_status, failure)
      select id, scheduled_at, ${shop.project.id}::uuid, application_id, trigger_id, environment_id, trigger_name,
        cron_expression, run_key, outcome, attempts, attempts, scheduled_at, executed_at, finished_at, response_status,
        failure
      from jsonb_to_recordset(${json}::jsonb) as r (id uuid, scheduled_at timestamptz, application_id uuid,
        trigger_id uuid, environment_id uuid, trigger_name text, cron_expression text, run_key text, outcome text,
        attempts integer, executed_at timestamptz, finished_at timestamptz, response_status integer, failure text)`.execute(
      tx,
    ),
  )
  await countRuns(tx, toRange(past))
}

async function writeNotifications(tx: Tx, shop: DemoShop, past: Past): Promise<void> {
  await insertRows(listNotifications(shop, past), (json) =>
    sql`
      with given as materialized (
        select * from jsonb_to_recordset(${json}::jsonb) as r (id uuid, created_at timestamptz, tenant_id uuid,
          application_id uuid, title text, body text, severity text, data json, users uuid[], read_at timestamptz)
      ), contents as (
        insert into notifications (id, created_at, tenant_id, application_id, title, body, severity, data)
        select id, created_at, tenant_id, application_id, title, body, severity, data from given
      ), recipients as (
        insert into notification_recipients (tenant_id, application_id, user_id, created_at, notification_id, read_at,
          seen_at)
        select tenant_id, application_id, user_id, created_at, id, read_at, read_at
        from given cross join lateral unnest(users) as user_id
      )
      insert into notification_count_changes (application_id, day, emitted, recipients, seen, read)
      select application_id, date_trunc('day', created_at, 'UTC'), count(*), sum(cardinality(users)),
        coalesce(sum(cardinality(users)) filter (where read_at is not null), 0),
        coalesce(sum(cardinality(users)) filter (where read_at is not null), 0)
      from given group by 1, 2`.execute(tx),
  )
}

/** Sets the ages of the credentials. Some are old, so that the overview lists credentials to renew. */
async function writeCredentialAges(tx: Tx, ids: MachineIds): Promise<void> {
  const ages = machineUsers.map((plan) => ({
    id: ids.machineUsers[plan.key],
    days: 'daysOld' in plan ? plan.daysOld : 0,
  }))
  await sql`
    update machine_users m set created_at = now() - make_interval(days => given.days)
    from jsonb_to_recordset(${JSON.stringify(ages)}::jsonb) as given (id uuid, days integer)
    where m.id = given.id`.execute(tx)
}
