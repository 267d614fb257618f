// Tests the plans for lists of credentials, backends and settings. Each plan reads about as many rows as it returns,
// among 10,000 rows of the same kind.
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { type SeededProject, seedMember, seedProject, seedUser } from '@manager/harness/seed.ts'
import { type TestApp, startTestApp } from './kit/app.ts'

const many = 10_000
const page = 100

let service: TestApp
let client: Client
let admin: Person
let owner: Person
let project: SeededProject
let other: SeededProject

beforeAll(async () => {
  service = await startTestApp()
  client = new Client({ connectionString: service.database.url })
  await client.connect()
  admin = await seedUser(service.sql, 'admin', 'administrator')
  owner = await seedUser(service.sql, 'owner')
  project = await seedProject(service.sql, 'main')
  other = await seedProject(service.sql, 'other')
  await seedMember(service.sql, owner, 'owner', { projectId: project.id })
  for (const [index, { id, environmentId, applicationId }] of [project, other].entries()) {
    // One in 200 credentials is old.
    await client.query(
      `insert into machine_users (id, project_id, environment_id, name, username, enabled, token_prefix, token_hash, created_at)
       select gen_random_uuid(), $1, $2, 'many', 'Bearer:' || prefix, true, prefix, sha256(prefix::bytea),
         case when i % 200 = 0 then now() - interval '1 year' else now() end
       from (select i, lpad(($3 * ${many} + i)::text, 8, '0') as prefix from generate_series(1, ${many}) i) rows`,
      [id, environmentId, index],
    )
    await client.query(
      `insert into backend_registrations (id, project_id, application_id, environment_id, machine_user_id, callback_url,
         callback_token, version)
       select gen_random_uuid(), $1, $2, $3, id, 'https://backend.example.com/', '', ''
       from machine_users where project_id = $1 order by id limit $4`,
      [id, applicationId, environmentId, index === 0 ? page : many],
    )
    await client.query(
      `insert into tenants (id, project_id, name, slug) select gen_random_uuid(), $1, 'many', 'many-' || i
       from generate_series(1, ${many}) i`,
      [id],
    )
  }
  // Every tenant enables one pilet; one in 300 enables another and pins a third.
  await client.query(
    `update settings s set
       backend_module_config = jsonb_build_object('EnabledModules',
         case when n % 300 = 0 then '["common", "rare"]'::jsonb else '["common"]'::jsonb end),
       frontend_module_config = case when n % 300 = 0
         then '{"KeyValuePairs": [{"Key": "pilets.pins", "Value": "{\\"pinned\\": \\"1.0.0\\"}"}]}'::jsonb else '{}'::jsonb end
     from (select id, row_number() over () as n from settings where tenant_id is not null) rows where rows.id = s.id`,
  )
  await client.query(
    `insert into personal_access_tokens (id, user_id, name, token_prefix, hash, expires_at)
     select gen_random_uuid(), $1, 'many', lpad(i::text, 8, '0'), '$pbkdf2-sha256$none',
       now() + case when i % 50 = 0 then interval '1 day' else interval '1 year' end
     from generate_series(1, ${many}) i`,
    [admin.id],
  )
  await client.query('vacuum analyze')
}, 120_000)
afterAll(async () => {
  await client.end()
  await service.close()
})

type Plan = {
  'Node Type': string
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Index Recheck'?: number
  Plans?: Plan[]
}
const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]

type Case = { text: string; caller?: Person; table: string; values: unknown[] }
/** Runs a query and explains its statement on a table. Returns the kinds of scans and the number of rows that they read. */
async function explain({ text, caller = admin, table, values }: Case) {
  service.statements.length = 0
  const { data, error } = await service.query(caller, text)
  expect(error).toBeNull()
  const statement = service.statements.find(
    (one) => one.includes(`from ${table}`) || one.includes(`from "${table}"`),
  )
  const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
    `explain (analyze, format json) ${statement}`,
    values,
  )
  const nodes = nodesOf((rows[0] as { 'QUERY PLAN': [{ Plan: Plan }] })['QUERY PLAN'][0].Plan)
  const reads = nodes.filter((node) => node['Relation Name'] === table)
  const removed = (node: Plan) =>
    (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)
  return {
    data,
    kinds: new Set(reads.map((node) => node['Node Type'])),
    count: reads.reduce((sum, node) => sum + node['Actual Loops'] * (node['Actual Rows'] + removed(node)), 0),
  }
}

async function expectBounded(one: Case, max: number) {
  const { data, kinds, count } = await explain(one)
  expect(kinds).not.toContain('Seq Scan')
  expect(count).toBeLessThanOrEqual(max)
  return data
}

test('the machine users of a project are read in the order of their index', async () => {
  const text = `{ rows: projectMachineUsers(projectId: "${project.id}") { id } }`
  const values = [project.id, page, 0]
  expect((await expectBounded({ text, table: 'machine_users', values }, page)).rows).toHaveLength(page)
})

test('machine users to rotate are found by the age of their credential, few and many', async () => {
  const read = (days: number, max: number) => {
    const text = `{ rows: machineUsersToRotate(projectId: "${project.id}", days: ${days}) { id } }`
    return expectBounded({ text, table: 'machine_users', values: [project.id, days, page, 0] }, max)
  }
  expect((await read(90, many / 200)).rows).toHaveLength(many / 200)
  expect((await read(3_650, 0)).rows).toEqual([])
  await client.query(
    "update machine_users set created_at = now() - interval '1 year' where project_id = $1",
    [project.id],
  )
  await client.query('vacuum analyze machine_users')
  expect((await read(90, page)).rows).toHaveLength(page)
})

test('tokens that expire are found by their expiry, for administrators and for an owner', async () => {
  const text = '{ rows: expiringAccessTokens(days: 14) { id } }'
  const table = 'personal_access_tokens'
  const all = await expectBounded({ text, table, values: [14, page, 0] }, page)
  expect(all.rows).toHaveLength(page)
  const own = await expectBounded({ text, caller: owner, table, values: [14, owner.id, page, 0] }, many / 50)
  expect(own.rows).toEqual([])
})

test('the backends of an application are found without reading those of others', async () => {
  const text = `{ rows: backends(applicationId: "${project.applicationId}") { id } }`
  const values = [project.applicationId, page, 0]
  const data = await expectBounded({ text, table: 'backend_registrations', values }, page)
  expect(data.rows).toHaveLength(page)
})

test('the layers that use a pilet are found by index, and at most 1,001 of each kind are read', async () => {
  const limit = 1_001
  const read = (name: string, max: number) => {
    const text = `{ usage: piletUsage(projectId: "${project.id}", name: "${name}") { isComplete entries { layer } } }`
    const key = `${project.id} ${name}`
    const values = [key, key, project.id, key, key, limit, key, limit, key, limit, name, limit]
    return expectBounded({ text, table: 'settings', values }, max)
  }
  const fewRows = 2 * (many / 300 + 20) + 10
  for (const name of ['rare', 'pinned']) {
    const { usage } = await read(name, fewRows)
    expect(usage.isComplete).toBe(true)
    expect(Math.abs(usage.entries.length - many / 300)).toBeLessThan(20)
  }
  const { usage } = await read('common', 2 * limit + 10)
  expect([usage.isComplete, usage.entries.length]).toEqual([false, limit - 1])
})
