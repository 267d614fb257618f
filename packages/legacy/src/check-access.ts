// Who may use which application of which tenant, before and after. Before, a member of a tenant could use what it had enabled.
import { sql } from 'kysely'
import { type AccessRows, accessOfUser, parseUuid } from '@manager/manager/rules'
import { type Database, type Reads, type UserAccess, byUser, readAccess } from '@manager/manager/storage'
import { type CheckPart, createPart, inBatches } from './check-part.ts'
import { newIdsOf } from './new-ids.ts'
import { roleOf } from './plan-people.ts'
import type { OldApplication, OldMember } from './rows.ts'
import type { Source } from './source.ts'

const batchSize = 300

/** Holds the members and the enabled clones of one project in memory. */
export async function checkAccess(
  { db, run }: Pick<Database, 'db' | 'run'>,
  source: Source,
  onRow: () => void,
): Promise<CheckPart[]> {
  const parts = {
    access: createPart('people and applications with the same tenants'),
    staff: createPart('people with roles of the Manager itself, not compared'),
    roles: createPart('roles in tenants'),
  }
  const [applications, members] = [source.read('applications'), source.read('tenant_members')]
  for await (const { id: place } of source.projects()) {
    const enabled = await readEnabled(db.read, applications.of(place))
    const people = await readPeople(db.read, members.of(place), parts.roles, onRow)
    await inBatches(pairsOf(people, enabled), batchSize, async (pairs) => {
      const found = await readAccess<UserAccess>(
        run,
        byUser,
        pairs.map(({ userId, applicationId }) => ({ key: userId, applicationId })),
      )
      for (const [index, { userId, applicationId, tenants }] of pairs.entries()) {
        const access = found[index] as (UserAccess & { is_staff: boolean }) | null
        if (access?.is_staff === true) parts.staff.add(1, 0, () => '')
        else
          parts.access.compare(
            tenantsNow(access) === tenants,
            () => `the tenants of the person ${userId} in the application ${applicationId}`,
          )
      }
    })
  }
  return [parts.access.result, parts.staff.result, parts.roles.result, await checkStrangers(db.read)]
}

const tenantsNow = (access: AccessRows | null): string =>
  access === null
    ? ''
    : accessOfUser(access)
        .available_tenants.map(({ id }) => id)
        .toSorted()
        .join()

/** For each application of today the tenants that have it enabled. */
async function readEnabled(
  db: Reads,
  rows: AsyncIterable<OldApplication>,
): Promise<Map<string, Set<string>>> {
  const enabled = new Map<string, Set<string>>()
  await inBatches(rows, batchSize, async (batch) => {
    const applications = await newIdsOf(
      db,
      'applications',
      batch.map(({ id }) => id),
    )
    const tenants = await newIdsOf(
      db,
      'tenants',
      batch.map(({ tenant_id: id }) => id ?? ''),
    )
    for (const row of batch) {
      const [applicationId, tenantId] = [applications.get(row.id), tenants.get(row.tenant_id ?? '')]
      if (applicationId === undefined) continue
      const set = enabled.get(applicationId) ?? new Set()
      enabled.set(applicationId, set)
      if (tenantId !== undefined && row.enabled === true) set.add(tenantId)
    }
  })
  return enabled
}

/** The tenants of each person; compares their roles on the way. */
async function readPeople(
  db: Reads,
  rows: AsyncIterable<OldMember>,
  roles: ReturnType<typeof createPart>,
  onRow: () => void,
): Promise<Map<string, string[]>> {
  const people = new Map<string, string[]>()
  await inBatches(rows, batchSize, async (batch) => {
    const tenants = await newIdsOf(
      db,
      'tenants',
      batch.map(({ tenant_id: id }) => id ?? ''),
    )
    const members = batch.flatMap((row) => {
      onRow()
      const [userId, tenantId] = [parseUuid(row.user_id), tenants.get(row.tenant_id ?? '')]
      return userId === null || tenantId === undefined || row.rank > 1
        ? []
        : [{ userId, tenantId, role: row.role }]
    })
    const held = await readRoles(db, members)
    for (const [index, { userId, tenantId, role }] of members.entries()) {
      roles.compare(
        held[index] === roleOf(role),
        () => `the role of the person ${userId} in the tenant ${tenantId}`,
      )
      const own = people.get(userId)
      if (own === undefined) people.set(userId, [tenantId])
      else own.push(tenantId)
    }
  })
  return people
}

async function readRoles(
  db: Reads,
  members: readonly { userId: string; tenantId: string }[],
): Promise<(string | null)[]> {
  const { rows } = await sql<{ role: string | null }>`
    select m.role_name as role
    from unnest(${members.map(({ userId }) => userId)}::uuid[], ${members.map(({ tenantId }) => tenantId)}::uuid[])
      with ordinality as wanted (user_id, tenant_id, position)
    left join user2tenants m on m.user_id = wanted.user_id and m.tenant_id = wanted.tenant_id
    order by wanted.position`.execute(db)
  return rows.map(({ role }) => role)
}

function* pairsOf(people: ReadonlyMap<string, string[]>, enabled: ReadonlyMap<string, ReadonlySet<string>>) {
  for (const [userId, own] of people)
    for (const [applicationId, tenants] of enabled) {
      const both = own.filter((id) => tenants.has(id))
      yield { userId, applicationId, tenants: both.toSorted().join() }
    }
}

/** Nobody is a member of an imported tenant who was none. */
async function checkStrangers(db: Reads): Promise<CheckPart> {
  const part = createPart('members of imported tenants who were members before')
  const { rows } = await sql<{ members: number; strangers: number; example: string | null }>`
    select count(*)::int as members, count(*) filter (where old.old_id is null)::int as strangers,
      min(m.user_id::text) filter (where old.old_id is null) as example
    from legacy_rows t join user2tenants m on m.tenant_id = t.new_id
    left join legacy_rows old on old.view = 'tenant_members' and old.new_id = m.id and old.outcome = 'moved'
    where t.view = 'tenants' and t.new_id is not null`.execute(db)
  const found = rows[0] ?? { members: 0, strangers: 0, example: null }
  part.add(found.members, found.strangers, () => `the person ${found.example} was not a member before`)
  return part.result
}
