// Compares each person's access before and after the import: the applications that the person may use in each tenant.
// In the old installation, members of a tenant could use the applications that the tenant had enabled.
import { sql } from 'kysely'
import { type AccessRows, computeUserAccess, parseUuid } from '@manager/manager/rules'
import {
  type Database,
  type Reads,
  type UserAccess,
  userStatements,
  readAccess,
} from '@manager/manager/storage'
import { type CheckPart, createPart, processInBatches } from './check-part.ts'
import { findNewIds } from './new-ids.ts'
import { mapRole } from './plan-people.ts'
import type { OldApplication, OldMember } from './rows.ts'
import type { Source } from './source.ts'

const batchSize = 300

/** Compares the access of all people. Keeps the members and the enabled clones of one project in memory. */
export async function checkAccess(
  { db, run }: Pick<Database, 'db' | 'run'>,
  source: Source,
  onRow: () => void,
): Promise<CheckPart[]> {
  const parts = {
    access: createPart('people with the same tenants per application'),
    staff: createPart('people with a Manager role (not compared)'),
    roles: createPart('roles in tenants'),
  }
  const [applications, members] = [source.read('applications'), source.read('tenant_members')]
  for await (const { id: projectId } of source.projects()) {
    const enabledTenants = await readEnabledTenants(db.read, applications.of(projectId))
    const people = await readPeople(db.read, members.of(projectId), parts.roles, onRow)
    await processInBatches(listPairs(people, enabledTenants), batchSize, async (pairs) => {
      const accessRows = await readAccess<UserAccess>(
        run,
        userStatements,
        pairs.map(({ userId, applicationId }) => ({ key: userId, applicationId })),
      )
      for (const [index, { userId, applicationId, tenants }] of pairs.entries()) {
        const access = accessRows[index] as (UserAccess & { is_staff: boolean }) | null
        if (access?.is_staff === true) parts.staff.add(1, 0, () => '')
        else
          parts.access.compare(
            formatCurrentTenants(access) === tenants,
            () => `the tenants of the person ${userId} in the application ${applicationId}`,
          )
      }
    })
  }
  return [parts.access.result, parts.staff.result, parts.roles.result, await checkNewMembers(db.read)]
}

const formatCurrentTenants = (access: AccessRows | null): string =>
  access === null
    ? ''
    : computeUserAccess(access)
        .available_tenants.map(({ id }) => id)
        .toSorted()
        .join()

/** Returns the tenants that enabled each new application. */
async function readEnabledTenants(
  db: Reads,
  rows: AsyncIterable<OldApplication>,
): Promise<Map<string, Set<string>>> {
  const enabledTenants = new Map<string, Set<string>>()
  await processInBatches(rows, batchSize, async (batch) => {
    const applications = await findNewIds(
      db,
      'applications',
      batch.map(({ id }) => id),
    )
    const tenants = await findNewIds(
      db,
      'tenants',
      batch.map(({ tenant_id: id }) => id ?? ''),
    )
    for (const row of batch) {
      const [applicationId, tenantId] = [applications.get(row.id), tenants.get(row.tenant_id ?? '')]
      if (applicationId === undefined) continue
      const tenantIds = enabledTenants.get(applicationId) ?? new Set()
      enabledTenants.set(applicationId, tenantIds)
      if (tenantId !== undefined && row.enabled === true) tenantIds.add(tenantId)
    }
  })
  return enabledTenants
}

/** Returns the tenants of each person, and compares their roles. */
async function readPeople(
  db: Reads,
  rows: AsyncIterable<OldMember>,
  roles: ReturnType<typeof createPart>,
  onRow: () => void,
): Promise<Map<string, string[]>> {
  const people = new Map<string, string[]>()
  await processInBatches(rows, batchSize, async (batch) => {
    const tenants = await findNewIds(
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
    const currentRoles = await readRoles(db, members)
    for (const [index, { userId, tenantId, role }] of members.entries()) {
      roles.compare(
        currentRoles[index] === mapRole(role),
        () => `the role of the person ${userId} in the tenant ${tenantId}`,
      )
      const tenantIds = people.get(userId)
      if (tenantIds === undefined) people.set(userId, [tenantId])
      else tenantIds.push(tenantId)
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

function* listPairs(
  people: ReadonlyMap<string, string[]>,
  enabled: ReadonlyMap<string, ReadonlySet<string>>,
) {
  for (const [userId, memberTenants] of people)
    for (const [applicationId, tenants] of enabled) {
      const sharedTenants = memberTenants.filter((id) => tenants.has(id))
      yield { userId, applicationId, tenants: sharedTenants.toSorted().join() }
    }
}

/** Finds members of imported tenants who were not members before. */
async function checkNewMembers(db: Reads): Promise<CheckPart> {
  const part = createPart('members of imported tenants who already were members')
  const { rows } = await sql<{ members: number; added: number; example: string | null }>`
    select count(*)::int as members, count(*) filter (where old.old_id is null)::int as added,
      min(m.user_id::text) filter (where old.old_id is null) as example
    from legacy_rows t join user2tenants m on m.tenant_id = t.new_id
    left join legacy_rows old on old.view = 'tenant_members' and old.new_id = m.id and old.outcome = 'moved'
    where t.view = 'tenants' and t.new_id is not null`.execute(db)
  const counts = rows[0] ?? { members: 0, added: 0, example: null }
  part.add(counts.members, counts.added, () => `the person ${counts.example} was not a member before`)
  return part.result
}
