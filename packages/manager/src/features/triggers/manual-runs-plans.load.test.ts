// These tests compare the cost of the lookups for manual runs instead of measuring time. Plans and buffers must not
// depend on the number of stored runs. LOAD_SIZE=full adds a million runs.
import { randomUUID } from 'node:crypto'
import { Pool } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadSize } from '@manager/harness/load-sizes.ts'
import { type SeededProject, seedProject } from '@manager/harness/seed.ts'
import { type TestDatabase, createScratchDatabase } from '../../../test/kit/databases.ts'
import { type Explained, createExplainer } from '../../../test/kit/explained.ts'
import { findActiveRetry, findPendingRun, findRequestedRun } from './manual-runs.store.ts'

const sizes = [10_000, loadSize(100_000, 1_000_000)]
const triggerId = randomUUID()
/** A run at the start of the month, which was retried. */
const repeated = { id: randomUUID(), scheduledAt: '' }

let database: TestDatabase
let sql: Pool
let explainer: Awaited<ReturnType<typeof createExplainer>>
let project: SeededProject
beforeAll(async () => {
  database = await createScratchDatabase()
  sql = new Pool({ connectionString: database.url, max: 1 })
  explainer = await createExplainer(database.url)
  project = await seedProject(sql, 'main')
  const { rows } = await sql.query<{ start: Date }>(
    `select date_trunc('month', now(), 'UTC') + interval '1 second' as start`,
  )
  repeated.scheduledAt = (rows[0] as { start: Date }).start.toISOString()
})
afterAll(async () => {
  await explainer.close()
  await sql.end()
  await database.drop()
})

/**
 * Adds runs up to this total, spread over the month so far. Half of them belong to the measured trigger. Every second
 * run has a request key and is a retry of another run; one in ten thousand has the measured key and is a retry of the
 * measured run.
 */
async function addRuns(from: number, to: number): Promise<void> {
  await sql.query(
    `insert into trigger_runs (id, scheduled_at, project_id, application_id, trigger_id, environment_id, trigger_name,
       cron_expression, run_key, outcome, requested_by, retry_of, request_key)
     select gen_random_uuid(), $1::timestamptz + (now() - $1::timestamptz) * (n::float / $7), $2, $3,
       case when n % 2 = 0 then $4::uuid else md5((n % 1000)::text)::uuid end, $5, '', '', '', 'delivered',
       case when n % 4 < 2 then $4::uuid end,
       case when n % 4 < 2 then case when n = 9000 then $6::uuid else md5('run' || n)::uuid end end,
       case when n % 4 < 2 then case when n = 9000 then 'wanted' else 'key-' || n end end
     from generate_series($8::int, $7::int - 1) n`,
    [
      repeated.scheduledAt,
      project.id,
      project.applicationId,
      triggerId,
      project.environmentId,
      repeated.id,
      to,
      from,
    ],
  )
  await sql.query('vacuum analyze trigger_runs')
}

const indexes: Record<string, string> = {
  'a request key': 'trigger_runs_request_idx',
  'a request key that no run has': 'trigger_runs_request_idx',
  'the retries of a run': 'trigger_runs_retry_idx',
  'the retries of a run without any': 'trigger_runs_retry_idx',
  'a pending run': 'trigger_runs_trigger_id_environment_id_idx',
}

async function measureAll(): Promise<Record<string, Explained>> {
  const slot = { triggerId, environmentId: project.environmentId }
  const lookups: Record<string, Parameters<typeof explainer.explain>[0]> = {
    'a request key': (db) => db.transaction((tx) => findRequestedRun(tx, triggerId, 'wanted')),
    'a request key that no run has': (db) => db.transaction((tx) => findRequestedRun(tx, triggerId, 'none')),
    'the retries of a run': (db) => db.transaction((tx) => findActiveRetry(tx, repeated)),
    'the retries of a run without any': (db) =>
      db.transaction((tx) => findActiveRetry(tx, { ...repeated, id: randomUUID() })),
    'a pending run': (db) => db.transaction((tx) => findPendingRun(tx, slot)),
  }
  const costs: Record<string, Explained> = {}
  for (const [name, lookup] of Object.entries(lookups)) costs[name] = await explainer.explain(lookup)
  return costs
}

test('[triggers.retry-run] the lookups of manual runs cost the same by the same plan, whatever runs are stored', async () => {
  const costs: Record<string, Explained>[] = []
  for (const [index, size] of sizes.entries()) {
    await addRuns(sizes[index - 1] ?? 0, size)
    costs.push(await measureAll())
  }
  const [few = {}, many = {}] = costs
  for (const [name, { plan, buffers }] of Object.entries(many)) {
    const before = few[name] as Explained
    process.stdout.write(
      `${name}: ${before.buffers} buffers at ${sizes[0]} runs, ${buffers} at ${sizes[1]} (${plan.join(', ')})\n`,
    )
  }
  for (const [name, { plan, buffers }] of Object.entries(many)) {
    const before = few[name] as Explained
    expect([name, plan]).toEqual([name, before.plan])
    // Each plan also scans empty monthly partitions. A scan of any other partition would exceed the buffer limit.
    expect([name, plan]).toEqual([name, expect.arrayContaining([`Index Scan ${indexes[name]}`])])
    expect([name, buffers <= 2 * before.buffers]).toEqual([name, true])
  }
}, 600_000)
