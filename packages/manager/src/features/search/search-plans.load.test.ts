// These tests compare the cost of searches instead of measuring time. The plan and the buffers of a search must not
// depend on objects that the caller cannot see. All objects of other projects have the searched word in their names.
// LOAD_SIZE=full adds a million rows of each kind.
import { Pool } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { loadSize } from '@manager/harness/load-sizes.ts'
import { type SeededProject, seedMember, seedProject, seedUser } from '@manager/harness/seed.ts'
import { type TestDatabase, createScratchDatabase } from '../../../test/kit/databases.ts'
import { type Explained, createExplainer } from '../../../test/kit/explained.ts'
import type { Actor } from '../../policy/actor.ts'
import { createSearchService } from './search.service.ts'
import { type SearchArgs, textKinds } from './search-text.pure.ts'

const sizes = [10_000, loadSize(40_000, 1_000_000)]
const rowsPerProject = 10
const requestId = 'quokka-request'
// Users are found only among the first members of a big project.
const bigKinds = textKinds.filter((kind) => kind !== 'user')

let database: TestDatabase
let sql: Pool
let explainer: Awaited<ReturnType<typeof createExplainer>>
let [member, bigMember, admin]: Person[] = []
/** `own` is small and does not grow. `big` gets every second object. */
let [own, big]: SeededProject[] = []
beforeAll(async () => {
  database = await createScratchDatabase()
  sql = new Pool({ connectionString: database.url, max: 1 })
  explainer = await createExplainer(database.url)
  own = await seedProject(sql, 'quokka-own')
  member = await seedUser(sql, 'quokka-member')
  await seedMember(sql, member, 'readonly', { projectId: own.id })
  big = await seedProject(sql, 'wallaby')
  bigMember = await seedUser(sql, 'big-member')
  await seedMember(sql, bigMember, 'readonly', { projectId: big.id })
  admin = await seedUser(sql, 'admin', 'administrator')
  // The rows reference blobs and role definitions that the statements do not read.
  await sql.query('set session_replication_role = replica')
  await fillProjects('needle', [own.id], 20)
})
afterAll(async () => {
  await explainer.close()
  await sql.end()
  await database.drop()
})

/** Inserts `count` objects of each kind, spread over the projects. Each has the word "quokka" and the tag in its name. */
async function fillProjects(tag: string, projects: readonly string[], count: number): Promise<void> {
  const owners = `(select n, ($1::uuid[])[n % cardinality($1) + 1] as project_id from generate_series(1, $2) n) rows`
  for (const statement of [
    `tenants (id, project_id, name, slug)
     select gen_random_uuid(), project_id, 'Quokka tenant ${tag} ' || n, 'quokka-${tag}-' || n from ${owners}`,
    `applications (id, project_id, name, slug)
     select gen_random_uuid(), project_id, 'Quokka application ${tag} ' || n, 'quokka-${tag}-' || n from ${owners}`,
    `endpoints (id, project_id, application_id, name, description, enabled, consume_url, auth_type, auth_username,
       transformation_template, log_level)
     select gen_random_uuid(), project_id, project_id, 'Quokka endpoint ${tag} ' || n, '', true, '/${tag}-' || n, 'None', '', '',
       'BASIC' from ${owners}`,
    `triggers (id, project_id, application_id, name, description, cron_expression, run_key, enabled)
     select gen_random_uuid(), project_id, project_id, 'Quokka trigger ${tag} ' || n, '', '@yearly', 'quokka-' || n, false
     from ${owners}`,
    `machine_users (id, project_id, environment_id, name, username, enabled, password_hash)
     select gen_random_uuid(), project_id, project_id, 'Quokka machine ${tag} ' || n, 'quokka-${tag}-' || n, true,
       '$pbkdf2-sha256$none' from ${owners}`,
    `pilet_packages (id, project_id, name, version, precedence, is_stable, content_type, size, hash, spec, enabled)
     select gen_random_uuid(), project_id, '@quokka/${tag}-' || n, '1.0.0', '1', true, 'text/javascript', 1, 'none', 'v2',
       true from ${owners}`,
    `language_packs (id, project_id, name)
     select gen_random_uuid(), project_id, 'quokka-${tag.slice(0, 8)}-' || n from ${owners} where n % 10 = 0`,
    `users (id, external_name, external_username, external_email)
     select md5(project_id::text || '${tag}' || n)::uuid, 'Quokka user ${tag} ' || n, 'quokka' || n, 'quokka' || n || '@example.com'
     from ${owners}`,
    `user2projects (id, project_id, user_id, role)
     select gen_random_uuid(), project_id, md5(project_id::text || '${tag}' || n)::uuid, 'readonly' from ${owners}`,
    `user2tenants (id, project_id, tenant_id, user_id, role_name)
     select gen_random_uuid(), project_id, project_id, md5(project_id::text || '${tag}' || n)::uuid, 'member' from ${owners}`,
    `user2applications (id, project_id, application_id, user_id, role)
     select gen_random_uuid(), project_id, project_id, md5(project_id::text || '${tag}' || n)::uuid, 'normal' from ${owners}`,
    `trigger_runs (id, scheduled_at, project_id, application_id, trigger_id, environment_id, trigger_name, cron_expression,
       run_key, outcome)
     select gen_random_uuid(), now(), project_id, project_id, gen_random_uuid(), project_id, '', '', '', 'missed' from ${owners}`,
  ])
    await sql.query(`insert into ${statement}`, [projects, count])
  await sql.query(
    `insert into tenant_role_definitions (id, project_id, tenant_id, name, permissions)
     select gen_random_uuid(), project_id, id, 'member', '{apps.read}' from tenants t where not exists (
       select from tenant_role_definitions d where d.tenant_id = t.id and d.name = 'member')`,
  )
  await sql.query(
    `insert into esb_audit_logs (id, created_at, endpoint_id, machine_user_id, source_ip, method, path, target_url, request_id)
     select gen_random_uuid(), now(), id, id, '', 'GET', '/', '', $2 from endpoints e where project_id = any($1)
       and not exists (select from esb_audit_logs l where l.endpoint_id = e.id and l.request_id = $2)`,
    [projects, requestId],
  )
}

/**
 * Runs `work` while inserts skip the indexes, and rebuilds the indexes afterwards, which costs much less. The indexes
 * of projects and environments stay active, because `work` needs their unique keys.
 */
async function withoutIndexes(work: () => Promise<void>): Promise<void> {
  await sql.query(
    `update pg_index i set indisready = false, indisvalid = false from pg_class c
     where c.oid = i.indrelid and c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
       and c.relname not in ('projects', 'environments')`,
  )
  await work()
  await sql.query("set maintenance_work_mem = '256MB'")
  await sql.query('reindex schema public')
  await sql.query('vacuum analyze')
}

/** Adds objects in other projects until there are `to` objects of each kind. */
async function addNeighbors(from: number, to: number): Promise<void> {
  const { rows } = await sql.query<{ id: string }>(
    `insert into projects (id, name, slug) select gen_random_uuid(), 'Quokka neighbor ' || n, 'quokka-' || n
     from generate_series($1::int, $2::int) n returning id`,
    [from / rowsPerProject + 1, to / rowsPerProject],
  )
  await sql.query(
    `insert into environments (id, project_id, name, display_name, sort_order, protected)
     select gen_random_uuid(), id, 'dev', '', 10, false from projects on conflict do nothing`,
  )
  await fillProjects(
    `from${from}`,
    rows.flatMap(({ id }) => [id, big?.id as string]),
    to - from,
  )
}

// Most monthly partitions of trigger_runs are empty, so a sequential scan of that table is allowed.
const isTableScan = (line: string): boolean => line.startsWith('Seq Scan') && line !== 'Seq Scan trigger_runs'

const measure = (caller: Person, args: SearchArgs): Promise<Explained & { hits: number }> => {
  const actor = { isAdministrator: caller === admin, user: { id: caller.id } } as Actor
  let hits = 0
  return explainer
    .explain(async (db) => {
      hits = (await createSearchService({ db }).search(actor, { limit: 50, ...args })).hits.length
    })
    .then((explained) => ({ ...explained, hits }))
}

async function measureAll(): Promise<Record<string, Explained & { hits: number }>> {
  const [user, administrator] = [member as Person, admin as Person]
  return {
    'a member, a word in every name': await measure(user, { text: 'quokka' }),
    'a member, a word in no other project': await measure(user, { text: 'needle' }),
    'a member, a word that nothing has': await measure(user, { text: 'quokka wombat' }),
    'a member, an id': await measure(user, { text: own?.tenantId as string }),
    'a member, a request id that all calls have': await measure(user, {
      text: requestId,
      kinds: ['loggedCall'],
    }),
    'a member of a big project, a name': await measure(bigMember as Person, {
      text: 'wallaby',
      kinds: bigKinds,
    }),
    'a member of a big project, a word that nothing has': await measure(bigMember as Person, {
      text: 'quokka wombat',
      kinds: bigKinds,
    }),
    'an administrator, a word in one project': await measure(administrator, { text: 'needle' }),
    'an administrator, an id': await measure(administrator, { text: own?.tenantId as string }),
  }
}

test('a search costs the same by the same plan, whatever other projects have', async () => {
  const costs: Awaited<ReturnType<typeof measureAll>>[] = []
  for (const [index, size] of sizes.entries()) {
    const startedAt = performance.now()
    await withoutIndexes(() => addNeighbors(sizes[index - 1] ?? 0, size))
    process.stdout.write(
      `${size} objects of each kind: seeded in ${Math.round((performance.now() - startedAt) / 1_000)} s\n`,
    )
    costs.push(await measureAll())
  }
  const [few, many] = costs as [(typeof costs)[number], (typeof costs)[number]]
  for (const [name, { plan, buffers, hits }] of Object.entries(few)) {
    process.stdout.write(
      `${name}: ${hits} hits, ${buffers} buffers at ${sizes[0]} rows, ${many[name]?.buffers} at ${sizes[1]}\n  ${plan.join('\n  ')}\n`,
    )
  }
  for (const [name, { plan, buffers, hits }] of Object.entries(few)) {
    expect([name, many[name]?.hits, many[name]?.plan]).toEqual([name, hits, plan])
    expect([name, (many[name]?.buffers ?? 0) <= 2 * buffers]).toEqual([name, true])
    expect([name, plan.filter((line) => isTableScan(line))]).toEqual([name, []])
  }
  expect(Object.values(few).map(({ hits }) => hits)).toEqual([50, 50, 0, 1, 20, 3, 0, 50, 1])
}, 1_800_000)
