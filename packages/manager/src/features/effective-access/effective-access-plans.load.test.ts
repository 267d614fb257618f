// Compares the cost of pages of effective access in a small and in a large database. A page must read only rows of the
// person or the object, also in the middle of a list. LOAD_SIZE=full adds a million memberships of each kind.
import { Pool } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadSize } from '@manager/harness/load-sizes.ts'
import { type SeededProject, seedMember, seedProject, seedUser } from '@manager/harness/seed.ts'
import { type TestDatabase, createScratchDatabase } from '../../../test/kit/databases.ts'
import { type Explained, createExplainer } from '../../../test/kit/explained.ts'
import { readPage } from '../../platform/lists/filters.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import * as grants from './grants.store.ts'
import * as objects from './object-access.store.ts'
import * as people from './person-access.store.ts'

const sizes = [10_000, loadSize(40_000, 1_000_000)]

let database: TestDatabase
let sql: Pool
let explainer: Awaited<ReturnType<typeof createExplainer>>
let [userId, readerId] = ['', '']
const own: SeededProject[] = []
beforeAll(async () => {
  database = await createScratchDatabase()
  sql = new Pool({ connectionString: database.url, max: 1 })
  explainer = await createExplainer(database.url)
  const [user, reader] = [await seedUser(sql, 'user'), await seedUser(sql, 'reader')]
  ;[userId, readerId] = [user.id, reader.id]
  for (let index = 0; index < 40; index++) {
    const project = await seedProject(sql, `own-${index}`)
    own.push(project)
    const { id: projectId, tenantId, applicationId } = project
    await seedMember(sql, user, 'member', { projectId, tenantId })
    await seedMember(sql, user, 'readonly', { projectId, applicationId })
    await seedMember(sql, reader, 'readonly', { projectId })
  }
  // The memberships refer to projects, tenants and applications that the statements do not read.
  await sql.query('set session_replication_role = replica')
})
afterAll(async () => {
  await explainer.close()
  await sql.end()
  await database.drop()
})

/** Adds memberships of other users in other projects, and applications for their tenants. */
async function addNeighbors(from: number, to: number): Promise<void> {
  const id = (text: string): string => `md5('${text}' || n / 5)::uuid`
  for (const statement of [
    `users (id, external_username, external_email) select md5('user' || n)::uuid, 'neighbor ' || n, n || '@example.com'`,
    `user2projects (id, project_id, user_id, role) select gen_random_uuid(), md5('p' || n)::uuid, ${id('user')}, 'owner'`,
    `tenants (id, project_id, name, slug) select md5('t' || n)::uuid, md5('p' || n)::uuid, 'tenant', 't' || n`,
    `user2tenants (id, project_id, tenant_id, user_id, role_name)
     select gen_random_uuid(), md5('p' || n)::uuid, md5('t' || n)::uuid, ${id('user')}, 'member'`,
    `tenant_role_definitions (id, project_id, tenant_id, name, permissions)
     select gen_random_uuid(), md5('p' || n)::uuid, md5('t' || n)::uuid, 'member', '{apps.read}'`,
    `tenant2applications (id, project_id, tenant_id, application_id, enabled)
     select gen_random_uuid(), md5('p' || n)::uuid, md5('t' || n)::uuid, md5('a' || n)::uuid, true`,
    `applications (id, project_id, name, slug) select md5('a' || n)::uuid, md5('p' || n)::uuid, 'application', 'a' || n`,
    `audit_logs (chain_id, seq, id, entity_type, entity_id, action, description, metadata, changes, ip_address,
       user_agent, created_at, prev_hash, hash)
     select md5('p' || n / 10)::uuid, n, gen_random_uuid(), 'user2project', gen_random_uuid()::text, 'grant', '', '{}',
       '{}', '', '', now(), '', ''`,
    `user2applications (id, project_id, application_id, user_id, role)
     select gen_random_uuid(), md5('p' || n)::uuid, md5('a' || n)::uuid, ${id('user')}, 'normal'`,
    `scim_groups (id, display_name) select md5('g' || n)::uuid, 'group ' || n`,
    `group_rules (id, project_id, group_id, role, creator_id)
     select md5('r' || n)::uuid, md5('p' || n)::uuid, md5('g' || n)::uuid, 'tester', ${id('user')}`,
  ])
    await sql.query(`insert into ${statement} from generate_series($1::int, $2::int) n`, [from + 1, to])
  await sql.query('vacuum analyze')
}

/** Adds a project in which the person is a member of every tenant, and all tenants use one application. */
async function addLongProject(tenants: number): Promise<SeededProject> {
  const project = await seedProject(sql, 'long')
  const { id, applicationId } = project
  for (const statement of [
    `tenants (id, project_id, name, slug) select md5('long' || n)::uuid, $1, 'tenant', 'long' || n`,
    `tenant_role_definitions (id, project_id, tenant_id, name, permissions)
     select gen_random_uuid(), $1, md5('long' || n)::uuid, 'member', '{apps.read}'`,
    `user2tenants (id, project_id, tenant_id, user_id, role_name)
     select gen_random_uuid(), $1, md5('long' || n)::uuid, '${userId}', 'member'`,
    `tenant2applications (id, project_id, tenant_id, application_id, enabled)
     select gen_random_uuid(), $1, md5('long' || n)::uuid, '${applicationId}', true`,
  ])
    await sql.query(`insert into ${statement} from generate_series(1, $2::int) n`, [id, tenants])
  await sql.query('vacuum analyze')
  return project
}

/** A page of 25 rows reads 20 to 40 blocks per row. A page that reads the whole list exceeds this limit. */
const maxBuffers = 3_000

const middle = (): SeededProject => own.toSorted((a, b) => (a.id < b.id ? -1 : 1))[20] as SeededProject
const page = readPage({}, { pagination: { limit: 25, offset: 0 } })
const findObject = (ids: { tenantId?: string; applicationId?: string }): objects.ObjectSelection => ({
  projectId: middle().id,
  tenantId: null,
  applicationId: null,
  seesAdministrators: true,
  seesProjectMembers: true,
  ...ids,
})
/** Statements, and the number of rows that each returns. */
const reads: Record<string, [run: (db: Db) => Promise<unknown[]>, rows: number]> = {
  'access of a person': [
    (db) => people.listPersonRecords(db.read, { userId, readerId: null, projectId: null }, null, 25),
    25,
  ],
  'access of a person in the middle': [
    (db) =>
      people.listPersonRecords(
        db.read,
        { userId, readerId: null, projectId: null },
        {
          section: 1,
          projectId: middle().id,
          tenantId: middle().tenantId,
          applicationId: middle().applicationId,
        },
        25,
      ),
    25,
  ],
  'access of a person for a reader': [
    (db) => people.listPersonRecords(db.read, { userId, readerId, projectId: null }, null, 25),
    25,
  ],
  'a visible person': [async (db) => [await people.findPerson(db.read, userId, readerId)], 1],
  'access to a project': [(db) => objects.listObjectRecords(db.read, findObject({}), null, page), 3],
  'access to a tenant': [
    (db) => objects.listObjectRecords(db.read, findObject({ tenantId: middle().tenantId }), null, page),
    2,
  ],
  'access to an application': [
    (db) =>
      objects.listObjectRecords(db.read, findObject({ applicationId: middle().applicationId }), null, page),
    3,
  ],
  grants: [
    (db) =>
      grants.findGrants(db.read, [{ projectId: middle().id, entityType: 'user2project', entityId: userId }]),
    1,
  ],
}

test('a page of access costs the same by index, whatever other people and projects have', async () => {
  const costs: Record<string, Explained>[] = []
  for (const [index, size] of sizes.entries()) {
    await addNeighbors(sizes[index - 1] ?? 0, size)
    const cost: Record<string, Explained> = {}
    for (const [name, [run, count]] of Object.entries(reads))
      cost[name] = await explainer.explain(async (db) =>
        expect([name, await run(db)]).toEqual([name, expect.objectContaining({ length: count })]),
      )
    costs.push(cost)
  }
  const [few, many] = costs as [Record<string, Explained>, Record<string, Explained>]
  for (const [name, { plan, buffers }] of Object.entries(few))
    process.stdout.write(
      `${name}: ${buffers} buffers at ${sizes[0]} rows, ${many[name]?.buffers} at ${sizes[1]}\n  ${plan.join('\n  ')}\n`,
    )
  for (const [name, { plan, buffers }] of Object.entries(few)) {
    // The two plans may differ: statistics decide between indexes that cost the same.
    const plans = [...plan, ...(many[name]?.plan ?? [])]
    expect([name, (many[name]?.buffers ?? 0) <= 2 * buffers]).toEqual([name, true])
    expect([name, plans.filter((line) => line.startsWith('Seq Scan'))]).toEqual([name, []])
  }
}, 1_800_000)

test('a page of a long list reads only its own rows, at the start and in the middle', async () => {
  const { id: projectId, applicationId } = await addLongProject(loadSize(5_000, 100_000))
  const half = '80000000-0000-0000-0000-000000000000'
  const ofPerson = { userId, readerId: null, projectId }
  const ofProject = { ...findObject({}), projectId }
  const ofApplication = { ...ofProject, applicationId }
  const pages: Record<string, (db: Db, isMiddle: boolean) => Promise<unknown[]>> = {
    'a person': (db, isMiddle) =>
      people.listPersonRecords(
        db.read,
        ofPerson,
        isMiddle ? { section: 1, projectId, tenantId: half, applicationId: half } : null,
        25,
      ),
    'a project': (db, isMiddle) =>
      objects.listObjectRecords(
        db.read,
        ofProject,
        isMiddle ? { section: 2, parentId: half, userId: half } : null,
        page,
      ),
    'an application': (db, isMiddle) =>
      objects.listObjectRecords(
        db.read,
        ofApplication,
        isMiddle ? { section: 4, parentId: half, userId: half } : null,
        page,
      ),
  }
  for (const [name, read] of Object.entries(pages)) {
    for (const isMiddle of [false, true]) {
      const { buffers, plan } = await explainer.explain(async (db) =>
        expect(await read(db, isMiddle)).toHaveLength(25),
      )
      process.stdout.write(
        `access of ${name}, ${isMiddle ? 'middle' : 'start'}: ${buffers} buffers\n  ${plan.join('\n  ')}\n`,
      )
      expect([name, isMiddle, buffers <= maxBuffers]).toEqual([name, isMiddle, true])
    }
  }
}, 600_000)
