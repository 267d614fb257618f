// Compares the cost of reading a user's memberships, and of filtered member lists, in a small and in a large table.
// The statements must read only the memberships of the user, or of the project. LOAD_SIZE=full adds a million
// memberships of each kind.
import { Pool } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadSize } from '@manager/harness/load-sizes.ts'
import { type SeededProject, seedMember, seedProject, seedUser } from '@manager/harness/seed.ts'
import { type TestDatabase, createScratchDatabase } from '../../../test/kit/databases.ts'
import { type Explained, createExplainer } from '../../../test/kit/explained.ts'
import { readPage } from '../../platform/lists/filters.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import * as applications from './application-members.store.ts'
import * as projects from './project-members.store.ts'
import * as tenants from './tenant-members.store.ts'

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
  for (let index = 0; index < 20; index++) {
    const project = await seedProject(sql, `own-${index}`)
    own.push(project)
    const { id: projectId, tenantId, applicationId } = project
    for (const [person, role, tenantRole] of [
      [user, 'tester', 'member'],
      [reader, 'readonly', 'admin'],
    ] as const) {
      await seedMember(sql, person, role, { projectId })
      await seedMember(sql, person, tenantRole, { projectId, tenantId })
      await seedMember(sql, person, 'readonly', { projectId, applicationId })
    }
  }
  // The memberships refer to projects, tenants and applications that the statements do not read.
  await sql.query('set session_replication_role = replica')
})
afterAll(async () => {
  await explainer.close()
  await sql.end()
  await database.drop()
})

/** Adds memberships of other users in other projects, five of each kind per user. */
async function addNeighbors(from: number, to: number): Promise<void> {
  const id = (text: string): string => `md5('${text}' || n / 5)::uuid`
  for (const statement of [
    `users (id, external_username, external_email) select md5('user' || n)::uuid, 'neighbor ' || n, n || '@example.com'`,
    `user2projects (id, project_id, user_id, role) select gen_random_uuid(), md5('p' || n)::uuid, ${id('user')}, 'owner'`,
    `user2tenants (id, project_id, tenant_id, user_id, role_name)
     select gen_random_uuid(), md5('p' || n)::uuid, md5('t' || n)::uuid, ${id('user')}, 'member'`,
    `tenant_role_definitions (id, project_id, tenant_id, name, permissions)
     select gen_random_uuid(), md5('p' || n)::uuid, md5('t' || n)::uuid, 'member', '{apps.read}'`,
    `user2applications (id, project_id, application_id, user_id, role)
     select gen_random_uuid(), md5('p' || n)::uuid, md5('a' || n)::uuid, ${id('user')}, 'normal'`,
  ])
    await sql.query(`insert into ${statement} from generate_series($1::int, $2::int) n`, [from + 1, to])
  await sql.query('vacuum analyze')
}

const filters = [{ field: 'userEmail', value: 'example' }]
const order = [{ field: 'userName' }]
const first = (): SeededProject => own[0] as SeededProject
/** Statements, and the number of rows that each returns. */
const reads: Record<string, [run: (db: Db) => Promise<unknown[]>, rows: number]> = {
  'project memberships of a user': [
    (db) =>
      projects.listProjectMemberships(
        db.read,
        [userId],
        readerId,
        readPage(projects.projectMembershipFields, {}),
      ),
    20,
  ],
  'tenant memberships of a user': [
    (db) =>
      tenants.listTenantMemberships(
        db.read,
        [userId],
        readerId,
        readPage(tenants.tenantMembershipFields, {}),
      ),
    20,
  ],
  'application memberships of a user': [
    (db) =>
      applications.listApplicationMemberships(
        db.read,
        [userId],
        readerId,
        readPage(applications.applicationMembershipFields, {}),
      ),
    20,
  ],
  'memberships of a user for an administrator': [
    (db) =>
      tenants.listTenantMemberships(db.read, [userId], null, readPage(tenants.tenantMembershipFields, {})),
    20,
  ],
  'project members by e-mail': [
    (db) =>
      projects.listProjectMembers(
        db.read,
        first().id,
        readPage(projects.projectMemberFields, { filters, order }),
      ),
    2,
  ],
  'tenant members by e-mail': [
    (db) =>
      tenants.listTenantMembers(
        db.read,
        first().tenantId,
        readPage(tenants.tenantMemberFields, { filters, order }),
      ),
    2,
  ],
}

test('memberships of a user and filtered members cost the same by index, whatever other users have', async () => {
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
